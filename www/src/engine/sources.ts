/** Where traces come from, as bodies: files, addresses, MLflow, Trackio. */
import { fetchResponse, readChunks, type Progress } from "token2text/source";
import type { Source } from "./contract.js";
import { failure } from "./errors.js";
import { MOST_BYTES, type Origin } from "./reader.js";

/** A body, or only its first whole lines: what comes next is then the whole. */
export interface Part {
  origin: Origin;
  source: Uint8Array | AsyncIterable<Uint8Array>;
  /** All of it to be read again, once it was read. */
  content: () => Blob;
  isBeginning: boolean;
}
export type OnBytes = (progress: Progress) => void;

/** JSON lines are first opened up to here; where no line ends by then, to twice as far, and so on. */
const BEGINNING = 1 << 18;
/** A file of less is opened at once. */
const LEAST_FOR_BEGINNING = 2 << 20;
/** Somebody waits, and can ask again. */
const RETRY = { attempts: 2, initialBackoffMillis: 500 };
/** Of a server's traces so many are one body, so that the first are seen early. */
const TRACES = 50;

/** Reads a source part by part. */
export function partsOf(source: Source, onBytes: OnBytes, signal: AbortSignal): AsyncGenerator<Part> {
  switch (source.kind) {
    case "file":
      return fileParts({ name: source.name }, source.blob, source.blob.size, onBytes, signal);
    case "url":
      return addressParts(source.name, source.url, onBytes, signal);
    case "mlflow":
      return mlflowParts(source, onBytes, signal);
    case "trackio":
      return trackioParts(source, onBytes, signal);
    case "collector":
      throw failure("invalid_options", "A collector is followed, not read in parts");
    case "kept":
      throw failure("invalid_options", "A kept tokenizer is no trace");
  }
}

/** A file, or what is at an address, as it is. */
export async function blobOf(source: Source, onBytes: OnBytes, signal: AbortSignal): Promise<Blob> {
  if (source.kind === "file") return source.blob;
  if (source.kind !== "url") throw failure("invalid_options", "A tokenizer comes from a file or an address");
  const response = await fetchResponse(new Request(source.url, { signal }), "tokenizer", signal);
  const chunks: BlobPart[] = [];
  for await (const chunk of readChunks(response, { what: "tokenizer", limit: MOST_BYTES, onProgress: onBytes, signal }, true)) chunks.push(chunk as BlobPart);
  return new Blob(chunks);
}

/** What names a source to the user, and its rows in links. */
export function sourceName(source: Source): string {
  if ("name" in source) return source.name;
  if (source.kind === "collector") return `Collector ${source.url.replace(/^https?:\/\/|\/+$/g, "")}`;
  return source.kind === "mlflow" ? `MLflow ${source.experiment}` : `Trackio ${source.project}${source.run ? ` ${source.run}` : ""}`;
}

async function* addressParts(name: string, url: string, onBytes: OnBytes, signal: AbortSignal): AsyncGenerator<Part> {
  const response = await fetchResponse(new Request(url, { signal }), "trace", signal);
  const contentType = response.headers.get("content-type") ?? undefined;
  const size = Number(response.headers.get("content-length")) || Infinity;
  yield* fileParts({ name, contentType, url: response.url || url }, response, size, onBytes, signal);
}

async function* fileParts(origin: Origin, source: Blob | Response, size: number, onProgress: OnBytes, signal: AbortSignal): AsyncGenerator<Part> {
  const isShort = size < LEAST_FOR_BEGINNING;
  // The first bytes of a file are there before a stream begins.
  const first = source instanceof Blob && !isShort ? wholeLines(new Uint8Array(await source.slice(0, BEGINNING).arrayBuffer())) : undefined;
  // What comes behind a beginning is read at once; all else is kept.
  const chunks = readChunks(source, { what: "trace", limit: MOST_BYTES, onProgress, signal }, !first);
  try {
    let held: Uint8Array[] = [];
    if (first) {
      // It comes while the beginning is read.
      const next = chunks.next();
      next.catch(() => {});
      yield beginningOf(origin, first, () => (source as Blob).slice(0, first.length));
      const { value } = await next;
      if (value) held = [value];
    } else if (!isShort) held = yield* beginning(origin, chunks);
    // A file is there to be read again; an answer is not.
    const kept: Uint8Array[] | undefined = source instanceof Blob ? undefined : [];
    yield { origin, source: onward(held, chunks, kept), content: () => (source instanceof Blob ? source : blobWith(kept!)), isBeginning: false };
  } finally {
    await chunks.return(undefined);
  }
}

/** Reads until there are whole lines to be shown, if it is JSON lines; gives what was read. */
async function* beginning(origin: Origin, chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Part, Uint8Array[]> {
  const held: Uint8Array[] = [];
  let length = 0;
  for (let wanted = BEGINNING; ; wanted = 2 * length) {
    while (length < wanted) {
      const { done, value } = await chunks.next();
      if (done) return held;
      held.push(value);
      length += value.length;
    }
    const lines = wholeLines(joined(held, length).subarray(0, wanted));
    if (!lines) continue;
    yield beginningOf(origin, lines, () => blobWith([lines]));
    return held;
  }
}

function beginningOf(origin: Origin, source: Uint8Array, content: () => Blob): Part {
  return { origin, source, content, isBeginning: true };
}

/** What was read already, and what comes next. */
async function* onward(held: Uint8Array[], chunks: AsyncGenerator<Uint8Array>, kept?: Uint8Array[]): AsyncGenerator<Uint8Array> {
  kept?.push(...held);
  yield* held;
  for await (const chunk of chunks) {
    kept?.push(chunk);
    yield chunk;
  }
}

function blobWith(chunks: Uint8Array[]): Blob {
  return new Blob(chunks as BlobPart[]);
}

/** The first lines of JSON lines; nothing of anything else. */
export function wholeLines(bytes: Uint8Array): Uint8Array | undefined {
  // A document that is indented, or a list, has no line that ends in `}` before one that begins with `{`.
  const text = new TextDecoder("latin1").decode(bytes);
  return /^\s*\{/.test(text) && /\}\r?\n\{/.test(text) ? bytes.subarray(0, text.lastIndexOf("\n") + 1) : undefined;
}

async function* mlflowParts(source: Source & { kind: "mlflow" }, onBytes: OnBytes, signal: AbortSignal): AsyncGenerator<Part> {
  const { url, experiment, filter, limit } = source;
  const named = /^\d+$/.test(experiment) ? { experimentId: experiment } : { experiment };
  // Fetched when somebody needs it.
  const { MlflowReader } = await import("token2text/exporters/mlflow-reader");
  const reader = new MlflowReader({ url, ...named, signal, retry: RETRY });
  const name = sourceName(source);
  const bodies: Uint8Array[] = [];
  const infos: unknown[] = [];
  let loaded = 0;
  const part = (): Part => {
    const traceInfos = new TextEncoder().encode(JSON.stringify({ traces: infos.splice(0) }));
    return wholePart({ name, traceInfos }, inLines(bodies.splice(0)));
  };
  for await (const info of reader.search({ filter, limit })) {
    const spans = await reader.spans(info.trace_id);
    bodies.push(spans);
    infos.push(info);
    onBytes({ loaded: (loaded += spans.length) });
    if (bodies.length === TRACES) yield part();
  }
  if (bodies.length > 0) yield part();
}

async function* trackioParts(source: Source & { kind: "trackio" }, onBytes: OnBytes, signal: AbortSignal): AsyncGenerator<Part> {
  const { url, project, run } = source;
  const { TrackioReader } = await import("token2text/exporters/trackio-reader");
  const reader = new TrackioReader({ url, signal });
  const runs = (await reader.runs(project)).filter(({ id, name }) => run === undefined || run === name || run === id);
  if (runs.length === 0) throw failure("refused", `Trackio at ${url} has no ${run === undefined ? `project "${project}" with runs` : `run "${run}" in the project "${project}"`}`);
  let loaded = 0;
  for (const { id, name: runName } of runs) {
    const { total } = await reader.traceSteps({ project, runId: id });
    for (let offset = 0; offset < total; offset += TRACES) {
      const bytes = await reader.traces({ project, runId: id, limit: TRACES, offset });
      onBytes({ loaded: (loaded += bytes.length) });
      const name = runs.length > 1 ? `${sourceName(source)} ${runName}` : sourceName(source);
      yield wholePart({ name }, bytes);
    }
  }
}

export function wholePart(origin: Origin, bytes: Uint8Array): Part {
  return { origin, source: bytes, content: () => blobWith([bytes]), isBeginning: false };
}

/** Documents as JSON lines: line feeds between the values of a document are only space. */
function inLines(documents: Uint8Array[]): Uint8Array {
  const lines = documents.flatMap((document) => [document.map((byte) => (byte === 10 || byte === 13 ? 32 : byte)), Uint8Array.of(10)]);
  return joined(lines, lines.reduce((length, line) => length + line.length, 0));
}

function joined(chunks: Uint8Array[], length: number): Uint8Array {
  if (chunks.length === 1) return chunks[0];
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
