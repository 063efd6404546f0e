/** The tokenizers of the threads: loaded at the start, and again when a file changes. */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { Worker } from "node:worker_threads";

/** A tokenizer as `pack()` made it, in memory that all threads share. @typedef {{ pattern: string, bytes: SharedArrayBuffer }} Packed */
/** @typedef {import("../types.js").Configuration} Configuration */
/** @typedef {import("./packer.js").Loaded} Loaded */
/** @typedef {Loaded & { loadedAt: string }} InUse */
/**
 * @typedef {object} Tokenizers
 * @property {Packed[]} packed In the order of the configuration.
 * @property {(take: (packed: Packed[]) => Promise<void>) => void} watch From now on, gives all of them to `take` when a file has
 *   changed and can be loaded. Until it can, the old ones stay.
 * @property {() => { pattern: string, file: string, loadedAt: string, error?: string }[]} health
 * @property {() => Promise<void>} close Watches no more.
 */

/** Asking works on network mounts, and where a file takes the place of another. */
const POLL_MILLIS = 2000;
const PACKER = new URL("./packer.js", import.meta.url);

/**
 * @param {Pick<Configuration, "tokenizers" | "tokenizerOptions" | "cacheFolder">} configuration
 * @param {import("pino").Logger} log
 * @returns {Promise<Tokenizers>}
 * @throws {Error} A file that cannot be loaded: the message names it.
 */
export async function openTokenizers({ tokenizers, tokenizerOptions, cacheFolder }, log) {
  const files = [...new Set(tokenizers.map(({ file }) => file))];
  /** The states of the files when they were last tried. @type {Map<string, string>} */
  const tried = new Map();
  /** Those in use. @type {Map<string, InUse>} */
  let current = new Map();
  /** Why a newer one is not in use, by file. @type {Map<string, string>} */
  const errors = new Map();

  /** @param {string} file @returns {Promise<InUse>} */
  async function load(file) {
    tried.set(file, await stateOf(file, tokenizerOptions.config));
    const loaded = await loadInThread({ file, ...tokenizerOptions, cacheFolder });
    if (loaded.cacheError) log.warn({ file, reason: loaded.cacheError }, "a packed tokenizer could not be kept in the cache folder");
    return { ...loaded, loadedAt: new Date().toISOString() };
  }

  /** Those of the files that are others than before. */
  async function loadChanged() {
    /** @type {typeof current} */
    const changed = new Map();
    for (const file of files) {
      if ((await stateOf(file, tokenizerOptions.config)) === tried.get(file)) continue;
      try {
        const loaded = await load(file);
        errors.delete(file);
        if (loaded.key !== current.get(file)?.key) changed.set(file, loaded);
      } catch (error) {
        keepOld(file, error);
      }
    }
    return changed;
  }

  /** @param {string} file @param {unknown} error */
  function keepOld(file, error) {
    const reason = error instanceof Error ? error.message : String(error);
    errors.set(file, reason);
    log.error({ file, reason }, "a tokenizer has changed and cannot be used: the one before stays");
  }

  /** @param {typeof current} from @returns {Packed[]} */
  const packed = (from) => tokenizers.map(({ pattern, file }) => ({ pattern, bytes: /** @type {InUse} */ (from.get(file)).bytes }));

  /** @param {(packed: Packed[]) => Promise<void>} take */
  async function look(take) {
    const changed = await loadChanged();
    if (changed.size === 0) return;
    const next = new Map([...current, ...changed]);
    try {
      await take(packed(next));
      current = next;
      log.info({ files: [...changed.keys()] }, "tokenizers have changed and are in use");
    } catch (error) {
      for (const file of changed.keys()) keepOld(file, error);
    }
  }

  for (const file of files) current.set(file, await load(file));
  const stop = new AbortController();
  /** Settled once nothing is watched any more. */
  let watching = Promise.resolve();
  return {
    packed: packed(current),
    watch(take) {
      watching = (async () => {
        while (await passed(POLL_MILLIS, stop.signal)) await look(take);
      })();
    },
    health: () =>
      tokenizers.map(({ pattern, file }) => {
        const { loadedAt } = /** @type {InUse} */ (current.get(file));
        return { pattern, file, loadedAt, ...(errors.has(file) && { error: errors.get(file) }) };
      }),
    close() {
      stop.abort();
      return watching;
    },
  };
}

/** Waits; false if there is nothing to wait for any more. @param {number} millis @param {AbortSignal} signal */
function passed(millis, signal) {
  return setTimeout(millis, true, { signal, ref: false }).catch(() => false);
}

/**
 * Something that differs when one of the files has changed, or has come or gone.
 *
 * @param {string} file
 * @param {string} [config]
 */
async function stateOf(file, config) {
  const paths = [file, `${file}/tokenizer.json`, ...(config ? [config] : [])];
  const states = await Promise.all(paths.map((path) => stat(path).then(({ ino, size, mtimeMs }) => [ino, size, mtimeMs], () => "none")));
  return JSON.stringify(states);
}

/**
 * Reads and packs in a thread: that takes seconds of a large file, and memory that is given back with the thread.
 *
 * @param {import("./packer.js").Wanted} wanted
 * @returns {Promise<Loaded>}
 */
async function loadInThread(wanted) {
  const thread = new Worker(PACKER, { workerData: wanted });
  const [answer] = await once(thread, "message").catch((/** @type {Error} */ { message }) => [{ error: `${wanted.file}: ${message}` }]);
  await thread.terminate();
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}
