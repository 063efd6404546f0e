/** Whether a file is a tokenizer or has traces: by its content, since names say little. */

const PACKED = [0x89, 0x54, 0x32, 0x54];
const GZIP = [0x1f, 0x8b];
/** Enough to see the first members of a tokenizer.json. */
const HEAD = 4096;

export async function isTokenizer(file: Blob, name: string): Promise<boolean> {
  if (/\.t2t(\.gz)?$/i.test(name)) return true;
  // A tokenizer is one document. Of what is many, the first bytes need not be waited for.
  if (/\.(jsonl|ndjson)(\.gz)?$/i.test(name)) return false;
  if (/(^|\/)[^/]*tokenizer\.json(\.gz)?$/i.test(name)) return true;
  const head = await headOf(file);
  if (startsWith(head, PACKED)) return true;
  const text = new TextDecoder().decode(head);
  return /^\s*\{/.test(text) && /"added_tokens"\s*:\s*\[|"version"\s*:\s*"1\.0"\s*,\s*"truncation"\s*:/.test(text);
}

const startsWith = (bytes: Uint8Array, signs: number[]) => signs.every((sign, at) => bytes[at] === sign);

/** The first bytes, of a gzip file those that are in it; none if it cannot be read. */
async function headOf(file: Blob): Promise<Uint8Array> {
  const raw = new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  if (!startsWith(raw, GZIP)) return raw;
  const reader = file.slice(0, HEAD * 16).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  try {
    return (await reader.read()).value?.subarray(0, HEAD) ?? raw;
  } catch {
    return raw;
  } finally {
    reader.cancel().catch(() => {});
  }
}
