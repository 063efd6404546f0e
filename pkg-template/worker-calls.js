/** The worker's side: runs calls on the tokenizers and enrichers of this thread. */
import { Token2TextError, asToken2TextError } from "./errors.js";

/** @typedef {typeof import("./index.js")} Api */
/** @typedef {{ id: number, method: string, args: any[], target?: number, makes?: number, reports?: boolean, isAborted?: boolean }} Request */
/** @typedef {(message: unknown, transfer: ArrayBuffer[]) => void} Post */

/**
 * What answers the messages of a client.
 *
 * @param {Api} api The package as this thread has it.
 * @param {Post} post
 * @returns {(message: any) => void}
 */
export function serve(api, post) {
  /** @type {Map<number, any>} */
  const objects = new Map();
  /** @type {Map<number, AbortController>} */
  const waits = new Map();

  /** @type {Record<string, (request: Request) => unknown>} */
  const functions = {
    init: ({ args: [source, options] }) => api.init(source, options),
    load: (request) => waited(request, ([source, options], waiting) => api.Tokenizer.load(source, { ...options, ...waiting })),
    fromBytes: async ({ args: [file, { config: configFile, ...rest }] }) => {
      const [bytes, config] = await Promise.all([unpacked(file), unpacked(configFile)]);
      try {
        return api.Tokenizer.fromBytes(bytes, { ...rest, config });
      } catch (error) {
        if (asToken2TextError(error).code !== "engine_not_available") throw error;
      }
      // Which fetches the general engine; it would take a text for an address.
      return api.Tokenizer.load(bytes, { ...rest, config: typeof config === "string" ? new TextEncoder().encode(config) : config });
    },
    create: ({ args: [entries, options] }) => api.Enricher.create(tokenizers(entries), options),
    strip: ({ args: [bytes, options] }) => api.strip(bytes, options),
    read: ({ args: [bytes, options] }) => api.read(bytes, options),
    write: ({ args: [spans, format, options] }) => api.write(spans, format, options),
    readRollouts: (request) =>
      waited(request, ([bytes, entries, options], waiting) => api.readRollouts(bytes, tokenizers(entries), { ...options, ...waiting })),
  };

  /**
   * Does what can be told about while it is done, and be given up.
   *
   * @param {Request} request
   * @param {(args: any[], waiting: { onProgress?: (progress: unknown) => void, signal: AbortSignal }) => Promise<unknown>} work
   */
  async function waited({ id, args, reports, isAborted }, work) {
    const abort = new AbortController();
    if (isAborted) abort.abort();
    waits.set(id, abort);
    try {
      return await work(args, { onProgress: reporter(id, reports), signal: abort.signal });
    } finally {
      waits.delete(id);
    }
  }

  /** Tells the client of progress, if it asked. @param {number} id @param {boolean} [reports] */
  function reporter(id, reports) {
    return reports ? (/** @type {unknown} */ progress) => post({ id, progress }, []) : undefined;
  }

  /** @param {[string, number][]} entries */
  function tokenizers(entries) {
    return Object.fromEntries(entries.map(([pattern, handle]) => [pattern, objectOf(handle)]));
  }

  /** @param {number} handle */
  function objectOf(handle) {
    const object = objects.get(handle);
    if (!object) throw new Token2TextError("instance_lost", "the worker was replaced before this call was done");
    return object;
  }

  /** @param {number} target @param {Request} request */
  function callOn(target, { id, method, args, reports }) {
    const object = objectOf(target);
    if (method === "info") return object.info;
    if (method === "drift") return object.drift(args[0], { ...args[1], onProgress: reporter(id, reports) });
    return object[method](...args);
  }

  /** @param {Request} request */
  async function answer(request) {
    const { id, method, target, makes } = request;
    try {
      const value = await (target === undefined ? functions[method](request) : callOn(target, request));
      if (makes !== undefined) objects.set(makes, value);
      const answered = makes === undefined ? value : undefined;
      post({ id, value: answered }, buffersOf(answered));
    } catch (error) {
      const { code, message } = asToken2TextError(error);
      post({ id, error: { code, message } }, []);
    }
  }

  return (message) => {
    if (message.abort !== undefined) return waits.get(message.abort)?.abort();
    if (message.free === undefined) return answer(message);
    objects.get(message.free)?.free();
    objects.delete(message.free);
  };
}

/** Bytes come in a Blob, which the client keeps for the next worker. @param {any} value */
async function unpacked(value) {
  return value instanceof Blob ? new Uint8Array(await value.arrayBuffer()) : value;
}

/** The buffers that a result has for itself, which are moved: of bytes, of such members, and of rollouts. @param {any} value */
function buffersOf(value) {
  const ids = value?.rollouts?.flatMap((/** @type {{ calls: { ids: unknown }[] }} */ { calls }) => calls.map(({ ids }) => ids)) ?? [];
  const candidates = [value, value?.bytes, value?.body, value?.ends, value?.flags, ...ids].filter((bytes) => ArrayBuffer.isView(bytes));
  return candidates.map((bytes) => /** @type {ArrayBuffer} */ (bytes.buffer));
}

