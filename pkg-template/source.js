/** Bytes from wherever they are: a URL, a path, a Response, a Blob or memory; plain or gzip. */
import { currentHost } from "./engines.js";
import { Token2TextError, describe, messageOf } from "./errors.js";

/** @typedef {string | URL | Response | Blob | ArrayBuffer | Uint8Array | AsyncIterable<Uint8Array>} Source Pieces are not written over while they are read. */
/** @typedef {{ loaded: number, total?: number }} Progress `total` is missing where the sender does not tell it. */
/** @typedef {import("./engines.js").AsyncSource} AsyncSource */
/**
 * @typedef {object} ReadOptions
 * @property {string} what The thing wanted, for messages: "tokenizer".
 * @property {number} limit The most bytes, after decompression.
 * @property {(progress: Progress) => void} [onProgress]
 * @property {AbortSignal} [signal]
 */

/** Bytes of a file that are read at once. Memory that is new for each chunk takes a browser as long as reading does. */
const LENT = 1 << 18;

/**
 * Reads a source to its end, through gzip if its first bytes say so.
 *
 * @param {Source} source
 * @param {ReadOptions} options
 * @returns {Promise<Uint8Array>}
 */
export async function readSource(source, options) {
  /** @type {Uint8Array[]} */
  const parts = [];
  for await (const chunk of readChunks(source, options, true)) parts.push(chunk);
  return join(parts);
}

/**
 * The same as it comes. The first chunk has at least 512 bytes, if there are so many; a chunk that is not kept is good until
 * the next one is asked for.
 *
 * @param {Source} source
 * @param {ReadOptions} options
 * @param {boolean} [keeps] Whether chunks are kept.
 * @returns {AsyncGenerator<Uint8Array>}
 */
export async function* readChunks(source, options, keeps = false) {
  const { signal } = options;
  try {
    signal?.throwIfAborted();
    const opened = await open(source, options);
    yield* withHead(plain(withHead(arriving(opened, options, keeps), 2), opened.name, options), 512);
  } catch (error) {
    if (signal?.aborted) throw aborted(signal, options.what);
    if (error instanceof Token2TextError) throw error;
    const name = isAddressLike(source) ? `${source}` : `the ${options.what}`;
    throw new Token2TextError("unreadable_source", `cannot read ${name}: ${messageOf(error)}`, { cause: error });
  }
}

/** @param {AbortSignal} signal @param {string} what */
function aborted(signal, what) {
  return new Token2TextError("aborted", `loading the ${what} was aborted`, { cause: signal.reason });
}

/**
 * Waits for something that knows of no signal, but no longer than until the signal is aborted.
 *
 * @param {Promise<unknown>} work
 * @param {AbortSignal | undefined} signal
 * @param {string} what
 * @returns {Promise<void>}
 */
export async function unlessAborted(work, signal, what) {
  if (!signal) return void (await work);
  /** @type {() => void} */
  let stop = () => {};
  const stopped = new Promise((_, reject) => {
    stop = () => reject(aborted(signal, what));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
  });
  try {
    await Promise.race([work, stopped]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** @param {unknown} value @returns {value is string | URL} */
function isAddressLike(value) {
  return typeof value === "string" || isKind(value, "URL");
}

/** @param {Uint8Array} bytes */
export function isGzip(bytes) {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/** Whether a value is of a class by its tag, which also holds for one from another window. @param {unknown} value @param {string} kind */
export function isKind(value, kind) {
  return Object.prototype.toString.call(value) === `[object ${kind}]`;
}

/**
 * The bytes of a value already in memory, without a copy; undefined for anything else.
 *
 * @param {unknown} value
 * @returns {Uint8Array | undefined}
 */
export function asBytes(value) {
  if (value instanceof Uint8Array) return value;
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (isKind(value, "ArrayBuffer") || isKind(value, "SharedArrayBuffer")) {
    return new Uint8Array(/** @type {ArrayBuffer} */ (value));
  }
  return undefined;
}

/** The same bytes in memory of their own where they are shared between threads, which most of the platform refuses. @param {Uint8Array} bytes */
export function unshared(bytes) {
  return isKind(bytes.buffer, "SharedArrayBuffer") ? Uint8Array.prototype.slice.call(bytes) : bytes;
}

/** @param {Source} source @param {ReadOptions} options @returns {Promise<AsyncSource>} */
async function open(source, { what, signal }) {
  const bytes = asBytes(source);
  if (bytes) return { chunks: once(unshared(bytes)), total: bytes.length, name: `the ${what}` };
  if (isAddressLike(source)) {
    return (await currentHost().openFile?.(source)) ?? openResponse(await fetchResponse(source, what, signal), what, signal);
  }
  if (isKind(source, "Response")) return openResponse(await fetchResponse(/** @type {Response} */ (source), what), what, signal);
  if (isKind(source, "Blob") || isKind(source, "File")) {
    const file = /** @type {File | (Blob & { name?: undefined })} */ (source);
    return { chunks: readFile(file.stream(), signal), total: file.size, name: file.name ?? `the ${what}`, lends: true };
  }
  if (Symbol.asyncIterator in Object(source)) return { chunks: /** @type {AsyncIterable<Uint8Array>} */ (source), name: `the ${what}` };
  const wanted = "a URL, a path (in Node), a Response, a Blob or bytes";
  throw new Token2TextError("invalid_options", `the ${what} must be given as ${wanted}, not ${describe(source)}`);
}

/**
 * The answer to a request, if it is one that has what was asked for.
 *
 * @param {string | URL | Request | Response} source
 * @param {string} what For messages.
 * @param {AbortSignal} [signal]
 */
export async function fetchResponse(source, what, signal) {
  const address = isKind(source, "Request") ? /** @type {Request} */ (source).url : String(source);
  const response = isKind(source, "Response") ? /** @type {Response} */ (source) : await request(address, source, signal);
  const name = response.url || `the ${what}`;
  if (!response.ok) {
    const status = `${response.status} ${response.statusText}`.trim();
    throw new Token2TextError("unreadable_source", `cannot read ${name}: the server answered ${status}`);
  }
  if (!response.body || response.bodyUsed) {
    throw new Token2TextError("unreadable_source", `cannot read ${name}: the response has no body left to read`);
  }
  return response;
}

/** @param {string} address @param {string | URL | Request | Response} source @param {AbortSignal} [signal] */
async function request(address, source, signal) {
  try {
    return await fetch(/** @type {Request} */ (source), { signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    // A browser does not tell a page which of these it was.
    const isForeign = typeof location === "object" && URL.canParse(address) && new URL(address).origin !== location.origin;
    const hint = isForeign ? "; it is on another origin, which must allow this one by CORS, and the page's connect-src must too" : "";
    throw new Token2TextError("unreadable_source", `cannot read ${address}: ${messageOf(error)}${hint}`, { cause: error });
  }
}

/** @param {Response} response @param {string} what @param {AbortSignal} [signal] @returns {AsyncSource} */
function openResponse(response, what, signal) {
  const length = Number(response.headers.get("content-length"));
  const total = length > 0 && !response.headers.get("content-encoding") ? length : undefined;
  const body = /** @type {ReadableStream<Uint8Array>} */ (response.body);
  return { chunks: readStream(body, signal), total, name: response.url || `the ${what}` };
}

/** @param {Uint8Array} bytes */
async function* once(bytes) {
  yield bytes;
}

/** Streams are not iterable in every browser. @param {ReadableStream<Uint8Array>} stream @param {AbortSignal} [signal] */
function readStream(stream, signal) {
  const reader = stream.getReader();
  return readBy(reader, () => reader.read(), signal);
}

/** All chunks in the same memory, where streams do that. @param {ReadableStream<Uint8Array>} stream @param {AbortSignal} [signal] */
function readFile(stream, signal) {
  /** @type {ReadableStreamBYOBReader} */
  let reader;
  try {
    reader = stream.getReader({ mode: "byob" });
  } catch {
    return readStream(stream, signal);
  }
  let memory = new Uint8Array(LENT);
  const read = async () => {
    const result = await reader.read(memory);
    if (result.value) memory = new Uint8Array(result.value.buffer);
    return /** @type {ReadableStreamReadResult<Uint8Array>} */ (result);
  };
  return readBy(reader, read, signal);
}

/**
 * @param {ReadableStreamDefaultReader | ReadableStreamBYOBReader} reader
 * @param {() => Promise<ReadableStreamReadResult<Uint8Array>>} read
 * @param {AbortSignal} [signal]
 */
async function* readBy(reader, read, signal) {
  const cancel = () => reader.cancel().catch(() => {});
  // A stream that was not made with the signal would be waited for.
  signal?.addEventListener("abort", cancel);
  try {
    for (;;) {
      const { done, value } = await read();
      signal?.throwIfAborted();
      if (done) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}

/** @param {AsyncSource} source @param {ReadOptions} options @param {boolean} keeps @returns {AsyncGenerator<Uint8Array>} */
async function* arriving({ chunks, total, name, lends }, { what, limit, onProgress, signal }, keeps) {
  let loaded = 0;
  for await (const chunk of chunks) {
    signal?.throwIfAborted();
    loaded += chunk.length;
    if (loaded > limit) throw tooLarge(name, what, limit);
    onProgress?.(total !== undefined && loaded <= total ? { loaded, total } : { loaded });
    yield keeps && lends ? chunk.slice() : chunk;
  }
}

/** The same bytes, with so many in the first chunk if there are. @param {AsyncIterable<Uint8Array>} chunks @param {number} least */
async function* withHead(chunks, least) {
  /** @type {Uint8Array | undefined} */
  let head = new Uint8Array();
  for await (const chunk of chunks) {
    if (!head) {
      yield chunk;
      continue;
    }
    head = head.length === 0 && chunk.length >= least ? chunk : join([head, chunk]);
    if (head.length < least) continue;
    yield head;
    head = undefined;
  }
  if (head) yield head;
}

/** @param {AsyncGenerator<Uint8Array>} chunks @param {string} name @param {ReadOptions} options @returns {AsyncGenerator<Uint8Array>} */
async function* plain(chunks, name, options) {
  let isFirst = true;
  for await (const chunk of chunks) {
    if (isFirst && isGzip(chunk)) return yield* gunzip(behind(chunk, chunks), name, options);
    isFirst = false;
    yield chunk;
  }
}

/** @param {Uint8Array} head @param {AsyncGenerator<Uint8Array>} chunks */
async function* behind(head, chunks) {
  yield head;
  yield* chunks;
}

/** @param {AsyncGenerator<Uint8Array>} chunks @param {string} name @param {ReadOptions} options */
async function* gunzip(chunks, name, { what, limit, signal }) {
  /** What the source failed with, and not the decompression. @type {unknown} */
  let failure;
  /** @type {ReadableStream<any>} */
  const raw = new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value.slice());
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    cancel: async () => void (await chunks.return(undefined)),
  });
  let loaded = 0;
  try {
    for await (const chunk of readStream(raw.pipeThrough(new DecompressionStream("gzip")), signal)) {
      loaded += chunk.length;
      if (loaded > limit) throw tooLarge(name, what, limit);
      yield chunk;
    }
  } catch (error) {
    if (failure) throw failure;
    if (error instanceof Token2TextError || signal?.aborted) throw error;
    throw new Token2TextError(what === "tokenizer" ? "invalid_tokenizer" : "unreadable_source", `${name} is a damaged or incomplete gzip file`, { cause: error });
  }
}

/** @param {Uint8Array[]} parts */
function join(parts) {
  if (parts.length === 1) return parts[0];
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** @param {string} name @param {string} what @param {number} limit */
function tooLarge(name, what, limit) {
  const most = limit >= 1 << 20 ? `${limit >> 20} MiB` : `${limit} bytes`;
  return new Token2TextError("limit_exceeded", `${name} is larger than ${most}, the limit of a ${what} file`);
}
