/** Content encodings: opened within limits, and written again. */
import { Readable } from "node:stream";
import { promisify } from "node:util";
import zlib from "node:zlib";

/** @typedef {import("./held.js").Allowance} Allowance */
/**
 * @typedef {object} Coding
 * @property {(first: Buffer) => import("node:stream").Transform} open Given the first two bytes of the body.
 * @property {(body: Uint8Array, first: Buffer) => Promise<Buffer>} close
 */

/** Fast, for a request waits: on the way to a server nearby, a few percent of size count less than the time. */
const FAST = { level: 3 };
const FAST_BROTLI = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } };
const [gzip, deflate, deflateRaw, brotli] = [zlib.gzip, zlib.deflate, zlib.deflateRaw, zlib.brotliCompress].map((close) => {
  return /** @type {(body: Uint8Array, options: object) => Promise<Buffer>} */ (promisify(/** @type {any} */ (close)));
});

/** What is called deflate has the header of zlib (RFC 1950), but some send it without. @param {Buffer} first Two bytes. */
const hasZlibHeader = (first) => (first[0] & 0x0f) === 8 && first.readUInt16BE() % 31 === 0;

/** @type {Coding} */
const GZIP = { open: () => zlib.createGunzip(), close: (body) => gzip(body, FAST) };

/** @type {Record<string, Coding>} */
const CODINGS = {
  gzip: GZIP,
  "x-gzip": GZIP,
  deflate: {
    open: (first) => (hasZlibHeader(first) ? zlib.createInflate() : zlib.createInflateRaw()),
    close: (body, first) => (hasZlibHeader(first) ? deflate : deflateRaw)(body, FAST),
  },
  br: { open: () => zlib.createBrotliDecompress(), close: (body) => brotli(body, FAST_BROTLI) },
};

/** Why a body is not opened. */
export class NotOpened extends Error {
  /** @param {"unsupported_encoding" | "invalid_encoding" | "too_large" | "overloaded"} reason @param {string} message */
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

/**
 * The bytes of a body without its encoding.
 *
 * @param {string | undefined} encoding The header `Content-Encoding`.
 * @param {Buffer[]} chunks
 * @param {Allowance} allowance For what is decompressed.
 * @returns {Promise<{ body: Buffer, close: (body: Uint8Array) => Promise<Uint8Array> }>} `close` encodes another body likewise.
 * @throws {NotOpened}
 */
export async function open(encoding, chunks, allowance) {
  const name = (encoding ?? "").trim().toLowerCase();
  if (name === "" || name === "identity") return { body: Buffer.concat(chunks), close: async (body) => body };
  const coding = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined;
  if (!coding) throw new NotOpened("unsupported_encoding", "the content encoding is none of gzip, deflate, br");
  const first = Buffer.concat(chunks.slice(0, 2), 2);
  /** @type {Buffer[]} */
  const opened = [];
  try {
    for await (const chunk of Readable.from(chunks).pipe(coding.open(first))) {
      const reason = allowance.take(chunk.length);
      if (reason) throw new NotOpened(reason, "the body has no room when it is decompressed");
      opened.push(chunk);
    }
  } catch (error) {
    if (error instanceof NotOpened) throw error;
    throw new NotOpened("invalid_encoding", `the body is not what its content encoding says: ${/** @type {Error} */ (error).message}`);
  }
  return { body: Buffer.concat(opened), close: (body) => coding.close(body, first) };
}

/**
 * Of the encodings that a client takes, those that can be opened.
 *
 * @param {string} accepted The header `Accept-Encoding`.
 * @returns {string}
 * @example
 *   openable("gzip, deflate, br, zstd;q=0.9"); // "gzip, deflate, br"
 */
export function openable(accepted) {
  const isKnown = (/** @type {string} */ item) => Object.hasOwn(CODINGS, item.split(";", 1)[0].trim().toLowerCase()) || /^\s*identity/i.test(item);
  return accepted.split(",").filter(isKnown).map((item) => item.trim()).join(", ") || "identity";
}
