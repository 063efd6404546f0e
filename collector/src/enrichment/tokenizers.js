/** The tokenizers of the threads: loaded at the start, and again when a file changes. */
import { once } from "node:events";
import { stat } from "node:fs/promises";
import { Worker } from "node:worker_threads";

/** A tokenizer as `pack()` made it, in memory that all threads share. @typedef {{ pattern: string, bytes: SharedArrayBuffer }} Packed */
/** @typedef {import("../types.js").Configuration} Configuration */
/** @typedef {import("./packer.js").Loaded} Loaded */
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
  /** What stands in the files' place, as it was when they were last tried. @type {Map<string, string>} */
  const tried = new Map();
  /** @type {Map<string, Loaded & { loadedAt: string }>} */
  const loaded = new Map();
  /** @type {Map<string, string>} */
  const errors = new Map();

  /** @param {string} file */
  async function load(file) {
    tried.set(file, await stateOf(file, tokenizerOptions.config));
    const found = await loadInThread({ file, ...tokenizerOptions, cacheFolder });
    const isNew = found.key !== loaded.get(file)?.key;
    errors.delete(file);
    if (isNew) loaded.set(file, { ...found, loadedAt: new Date().toISOString() });
    if (found.cacheError) log.warn({ file, reason: found.cacheError }, "the packed tokenizer could not be kept in the cache folder");
    return isNew;
  }

  const packed = () => tokenizers.map(({ pattern, file }) => ({ pattern, bytes: /** @type {Loaded} */ (loaded.get(file)).bytes }));

  /** Whether any is another one than before. */
  async function loadChanged() {
    let isChanged = false;
    for (const file of files) {
      if ((await stateOf(file, tokenizerOptions.config)) === tried.get(file)) continue;
      try {
        if (!(await load(file))) continue;
        isChanged = true;
        log.info({ file }, "a tokenizer has changed");
      } catch (error) {
        const { message } = /** @type {Error} */ (error);
        errors.set(file, message);
        log.error({ file, reason: message }, "a tokenizer has changed and cannot be loaded: the one before stays");
      }
    }
    return isChanged;
  }

  for (const file of files) await load(file);
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** What the timer does. */
  let looking = Promise.resolve();
  let isClosed = false;
  return {
    packed: packed(),
    watch(take) {
      const look = async () => {
        try {
          if (await loadChanged()) await take(packed());
        } catch (error) {
          log.error({ err: error }, "workers with the new tokenizer could not be started: those before stay");
        }
        if (!isClosed) next();
      };
      const next = () => {
        timer = setTimeout(() => (looking = look()), POLL_MILLIS).unref();
      };
      next();
    },
    health: () =>
      tokenizers.map(({ pattern, file }) => {
        const { loadedAt } = /** @type {{ loadedAt: string }} */ (loaded.get(file));
        const error = errors.get(file);
        return { pattern, file, loadedAt, ...(error !== undefined && { error }) };
      }),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await looking;
    },
  };
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
  const [answer] = await once(thread, "message");
  await thread.terminate();
  if (answer.error !== undefined) throw new Error(answer.error);
  return answer;
}
