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
  const loads = new Map();

  /** @type {Record<string, (request: Request) => unknown>} */
  const functions = {
    init: ({ args: [source, options] }) => api.init(source, options),
    load: (request) => load(request),
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
  };

  /** @param {Request} request */
  async function load({ id, args: [source, options], reports, isAborted }) {
    const abort = new AbortController();
    if (isAborted) abort.abort();
    loads.set(id, abort);
    const onProgress = reports ? (/** @type {unknown} */ progress) => post({ id, progress }, []) : undefined;
    try {
      return await api.Tokenizer.load(source, { ...options, onProgress, signal: abort.signal });
    } finally {
      loads.delete(id);
    }
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

  /** @param {number} target @param {string} method @param {unknown[]} args */
  function callOn(target, method, args) {
    const object = objectOf(target);
    return method === "info" ? object.info : object[method](...args);
  }

  /** @param {Request} request */
  async function answer(request) {
    const { id, method, args, target, makes } = request;
    try {
      const value = await (target === undefined ? functions[method](request) : callOn(target, method, args));
      if (makes !== undefined) objects.set(makes, value);
      const answered = makes === undefined ? value : undefined;
      post({ id, value: answered }, buffersOf(answered));
    } catch (error) {
      const { code, message } = asToken2TextError(error);
      post({ id, error: { code, message } }, []);
    }
  }

  return (message) => {
    if (message.abort !== undefined) return loads.get(message.abort)?.abort();
    if (message.free === undefined) return answer(message);
    objects.get(message.free)?.free();
    objects.delete(message.free);
  };
}

/** Bytes come in a Blob, which the client keeps for the next worker. @param {any} value */
async function unpacked(value) {
  return value instanceof Blob ? new Uint8Array(await value.arrayBuffer()) : value;
}

/** The buffers that a result has for itself, which are moved: of bytes, and of such members. @param {any} value */
function buffersOf(value) {
  const candidates = [value, value?.bytes, value?.body, value?.ends, value?.flags].filter((bytes) => ArrayBuffer.isView(bytes));
  return candidates.map((bytes) => /** @type {ArrayBuffer} */ (bytes.buffer));
}

