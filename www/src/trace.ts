/** A trace file: its bytes, and the records in it. */

export interface TraceFile {
  name: string;
  bytes: Uint8Array;
}

/** Reads a file or URL to its end, through gzip if it begins like it. */
export async function readTrace(
  source: Blob | URL,
  name: string,
  onProgress: (part: number | undefined) => void,
): Promise<TraceFile> {
  const bytes = source instanceof Blob ? await readBlob(source, onProgress) : await readUrl(source);
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return { name, bytes };
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  try {
    return { name, bytes: new Uint8Array(await new Response(stream).arrayBuffer()) };
  } catch {
    throw new Error(`${name} is a damaged or incomplete gzip file`);
  }
}

async function readUrl(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`cannot read ${url}: the server answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function readBlob(blob: Blob, onProgress: (part: number | undefined) => void): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(blob.size);
  const reader = blob.stream().getReader();
  for (let at = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) return bytes;
    bytes.set(value, at);
    at += value.length;
    onProgress(at / blob.size);
  }
}

/** The lines of a body with their endings. */
export function* splitLines(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline === -1 ? bytes.length : newline + 1;
    yield bytes.subarray(start, end);
    start = end;
  }
}

/** JSON lines if the first line with something in it is a whole object or array; else one document. */
export function isJsonLines(bytes: Uint8Array): boolean {
  for (const line of splitLines(bytes)) {
    if (isBlank(line)) continue;
    const value = tryParse(line);
    return typeof value === "object" && value !== null;
  }
  return true;
}

export function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || (byte >= 0x09 && byte <= 0x0d));
}

const utf8 = new TextDecoder();
const STRINGS_AND_ODD_NUMBERS = /"(?:[^"\\]|\\.)*"|-?\b(?:NaN|Infinity)\b/g;

/** The value of JSON text for display; undefined if it is none. Python's NaN and Infinity pass as null. */
export function tryParse(json: Uint8Array): unknown {
  const text = utf8.decode(json);
  try {
    return JSON.parse(text);
  } catch {
    try {
      return JSON.parse(text.replace(STRINGS_AND_ODD_NUMBERS, (part) => (part[0] === '"' ? part : "null")));
    } catch {
      return undefined;
    }
  }
}

/**
 * What a JSON Pointer leads to, with the step `!json` into JSON inside a string, and through the lists of attributes of OTLP
 * as if they were objects; undefined if nothing is there.
 */
export function resolve(value: unknown, pointer: string): unknown {
  for (const step of pointer.split("/").slice(1)) {
    if (step === "!json") {
      value = typeof value === "string" ? tryParse(new TextEncoder().encode(value)) : undefined;
      continue;
    }
    if (typeof value !== "object" || value === null) return undefined;
    value = member(value, step.replaceAll("~1", "/").replaceAll("~0", "~"));
  }
  return Array.isArray(value) ? value.map(plain) : value;
}

function member(value: object, key: string): unknown {
  if (!Array.isArray(value) || /^\d+$/.test(key)) return plain((value as Record<string, unknown>)[key]);
  return plain(value.find((pair) => pair?.key === key)?.value);
}

/** What a value of OTLP stands for; anything else is itself. */
function plain(value: unknown): unknown {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const [kind, inner] = entries.length === 1 ? entries[0] : ["", value];
  if (/^(array|kvlist)(Value|_value)$/.test(kind)) return inner?.values ?? [];
  return /^(string|int|double|bool|bytes)(Value|_value)$/.test(kind) ? inner : value;
}

/** `calls.jsonl.gz` becomes `calls.text.jsonl`: what is saved is plain. */
export function downloadName(name: string): string {
  const plain = name.replace(/\.gz$/i, "");
  const dot = plain.lastIndexOf(".");
  return dot > 0 ? `${plain.slice(0, dot)}.text${plain.slice(dot)}` : `${plain}.text`;
}
