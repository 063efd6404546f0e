import { createReadStream } from "node:fs";
import { Readable, pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { UsageError } from "./args.js";

/**
 * The bytes of a file or of the standard input, through gzip if they begin like it.
 *
 * @param {string} file
 * @param {(bytes: number) => void} onBytes Told the size of each chunk as it is read.
 * @returns {AsyncGenerator<Buffer>}
 */
export async function* readInput(file, onBytes) {
  const name = displayName(file);
  try {
    const raw = readRaw(file, onBytes);
    const head = await takeHead(raw);
    const chunks = prepend(head, raw);
    yield* head[0] === 0x1f && head[1] === 0x8b ? gunzip(chunks) : chunks;
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code?.startsWith("Z_")) throw new UsageError(`${name} is a damaged or incomplete gzip file`);
    if (code === "ENOENT") throw new UsageError(`there is no file ${name}`);
    if (code === "EISDIR") throw new UsageError(`${name} is a folder; name its files`);
    throw new UsageError(`cannot read ${name}: ${message}`);
  }
}

/** @param {string} file */
export function displayName(file) {
  return file === "-" ? "the standard input" : file;
}

/** @param {string} file @param {(bytes: number) => void} onBytes */
async function* readRaw(file, onBytes) {
  for await (const chunk of file === "-" ? process.stdin : createReadStream(file, { highWaterMark: 1 << 18 })) {
    onBytes(chunk.length);
    yield /** @type {Buffer} */ (chunk);
  }
}

/** The first bytes, at least two unless the input is shorter. @param {AsyncGenerator<Buffer>} chunks */
async function takeHead(chunks) {
  /** @type {Buffer} */
  let head = Buffer.alloc(0);
  while (head.length < 2) {
    const { done, value } = await chunks.next();
    if (done) break;
    head = head.length === 0 ? value : Buffer.concat([head, value]);
  }
  return head;
}

/** @param {Buffer} head @param {AsyncGenerator<Buffer>} rest */
async function* prepend(head, rest) {
  if (head.length > 0) yield head;
  yield* rest;
}

/** @param {AsyncIterable<Buffer>} chunks @returns {AsyncGenerator<Buffer>} */
async function* gunzip(chunks) {
  // An error of the source or of the data destroys the last stream, and so ends the loop below.
  const stream = pipeline(Readable.from(chunks), createGunzip({ chunkSize: 1 << 18 }), () => {});
  yield* stream;
}
