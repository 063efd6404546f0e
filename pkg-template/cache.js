/** Tokenizers that a page keeps from one visit to the next, packed, in IndexedDB. */
import { readEntry, touchEntry, writeEntry } from "./cache-store.js";
import { slim } from "./engines.js";
import { Token2TextError, describe, messageOf } from "./errors.js";
import { checkOptions } from "./options.js";
import { fetchResponse } from "./source.js";
import { Tokenizer } from "./tokenizer.js";
import { VERSION } from "./version.js";

/** @typedef {import("./cache-store.js").Entry} Entry */
/**
 * What became of a request for a tokenizer. `hit`: it came out of the store. `miss`: it was loaded from its URL; `reason` says why.
 * `stored`: it is kept for the next time. `problem`: the store failed, or it is not kept; `reason` says why.
 *
 * @typedef {{ outcome: "hit" | "miss" | "stored" | "problem", reason?: string }} CacheEvent
 */
/**
 * @typedef {object} CacheOptions
 * @property {string} [hash] SHA-256 of the file, plain, in hex. What is in the store for it is taken without asking
 *   the server; without `hash` the server is asked each time whether the file has changed.
 * @property {number} [maxEntries] So many tokenizers are kept for all pages of the origin. Default: 8.
 * @property {number} [maxBytes] And so many bytes of packed tokenizers. Default: 64 MiB.
 * @property {(event: CacheEvent) => void} [onCache] Is told what became of the request, also after the tokenizer was given.
 * @property {(progress: import("./source.js").Progress) => void} [onProgress] Called while the file arrives.
 * @property {AbortSignal} [signal]
 */

const OPTIONS = ["hash", "maxEntries", "maxBytes", "onCache", "onProgress", "signal"];

/**
 * Loads a tokenizer from its URL as `Tokenizer.load` does, and keeps it: the next time, also after a reload, it comes out of
 * the store, which takes milliseconds. Where there is no store, or it fails, it is loaded as without one. The store is
 * the database `token2text` of IndexedDB; to empty it, delete that.
 *
 * @param {string | URL} url Of a tokenizer.json, plain or gzip, or of a packed one.
 * @param {CacheOptions} [options]
 * @returns {Promise<Tokenizer>}
 */
export async function cachedTokenizer(url, options) {
  slim();
  const { hash, onProgress, signal, ...rest } = checkOptions(options, OPTIONS, "cachedTokenizer");
  const { onCache = () => {}, ...bounds } = checkStoring(rest);
  /** @type {(error: unknown) => void} */
  const onProblem = (error) => onCache({ outcome: "problem", reason: messageOf(error) });
  const load = (/** @type {import("./source.js").Source} */ source) => Tokenizer.load(source, { hash, onProgress, signal });
  const key = keyOf(url, hash);
  const entry = key && (await readEntry(key).catch(onProblem));
  if (!key) onProblem(new Error("there is no IndexedDB here"));

  // With a hash the server is asked only if there is no entry; without one, it tells whether the entry is still good.
  const ask = () => fetchResponse(new Request(url, { cache: "no-cache" }), "tokenizer", signal);
  let response = key && !hash ? await ask() : undefined;
  const stale = whyStale(entry || undefined, response);
  if (!stale) {
    try {
      // What was kept under a hash had it.
      const tokenizer = await Tokenizer.load(/** @type {Entry} */ (entry).packed, { signal });
      response?.body?.cancel().catch(() => {});
      if (key) touchEntry(key).catch(onProblem);
      onCache({ outcome: "hit" });
      return tokenizer;
    } catch (error) {
      if (signal?.aborted) throw error;
      onCache({ outcome: "miss", reason: `the entry is damaged: ${messageOf(error)}` });
    }
  } else {
    onCache({ outcome: "miss", reason: stale });
  }

  response ??= key ? await ask() : undefined;
  const tokenizer = await load(response ?? url);
  if (key && response) keep(key, tokenizer, response, bounds, hash).then((outcome) => onCache(outcome), onProblem);
  return tokenizer;
}

/**
 * @param {string} key
 * @param {Tokenizer} tokenizer
 * @param {Response} response
 * @param {import("./cache-store.js").Bounds} bounds
 * @param {string} [hash]
 * @returns {Promise<CacheEvent>}
 */
async function keep(key, tokenizer, { headers }, bounds, hash) {
  const [etag, lastModified] = validators(headers);
  if (!etag && !lastModified && !hash) {
    throw new Error("it is not kept: the server sends neither an ETag nor Last-Modified; give `hash`");
  }
  const packed = tokenizer.pack();
  if (packed.length > bounds.maxBytes) throw new Error(`it is not kept: it has ${packed.length} bytes, more than \`maxBytes\``);
  await writeEntry(key, { version: VERSION, etag, lastModified, packed }, bounds);
  return { outcome: "stored" };
}

/**
 * Why an entry is not to be used; nothing if it is.
 *
 * @param {Entry | undefined} entry
 * @param {Response | undefined} response The server's answer, if it was asked.
 */
function whyStale(entry, response) {
  if (!entry) return "it is not in the store";
  if (entry.version !== VERSION) return `the entry is of version ${entry.version} of the package`;
  if (!response) return undefined;
  const [etag, lastModified] = validators(response.headers);
  if ((etag || lastModified) && etag === entry.etag && lastModified === entry.lastModified) return undefined;
  return "the file on the server is another one, or may be";
}

/** @param {Headers} headers */
function validators(headers) {
  return [headers.get("etag"), headers.get("last-modified")];
}

/** Under which an entry is kept; nothing where none is. @param {string | URL} url @param {string} [hash] */
function keyOf(url, hash) {
  if (typeof indexedDB !== "object" || typeof location !== "object") return undefined;
  if (!URL.canParse(url, location.href)) throw new Token2TextError("invalid_options", `cachedTokenizer takes a URL, not ${describe(url)}`);
  const address = new URL(url, location.href);
  address.hash = "";
  return JSON.stringify([address.href, hash && String(hash).toLowerCase()]);
}

/** @param {Omit<CacheOptions, "hash" | "onProgress" | "signal">} options */
function checkStoring({ maxEntries = 8, maxBytes = 64 << 20, onCache }) {
  for (const [name, value] of Object.entries({ maxEntries, maxBytes })) {
    if (Number.isSafeInteger(value) && value > 0) continue;
    throw new Token2TextError("invalid_options", `\`${name}\` must be a whole number above 0, not ${describe(value)}`);
  }
  if (onCache === undefined || typeof onCache === "function") return { maxEntries, maxBytes, onCache };
  throw new Token2TextError("invalid_options", `\`onCache\` must be a function, not ${describe(onCache)}`);
}
