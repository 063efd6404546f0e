/** A thread that reads one tokenizer, or finds it packed, answers, and ends. */
import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { Token2TextError, Tokenizer } from "token2text";
import { readPacked, writePacked } from "./packed-cache.js";

/** @typedef {{ file: string, config?: string, compat?: "tokenizers" | "transformers4" | "transformers5", cacheFolder?: string }} Wanted */
/**
 * `key`: the same for the same files, options and version of token2text. `cacheError`: why it was not kept, in words.
 *
 * @typedef {{ key: string, bytes: SharedArrayBuffer, cacheError?: string }} Loaded
 */

const { version } = createRequire(import.meta.url)("token2text/package.json");

try {
  parentPort?.postMessage(await load(workerData));
} catch (error) {
  parentPort?.postMessage({ error: error instanceof Error ? error.message : String(error) });
}

/** @param {Wanted} wanted @returns {Promise<Loaded>} */
async function load({ file, config: configFile, compat, cacheFolder }) {
  const path = (await isFolder(file)) ? join(file, "tokenizer.json") : file;
  const plain = await read(path, "give --tokenizer the path of a tokenizer.json, or of the folder that has it");
  const config = configFile === undefined ? undefined : await read(configFile, "give the path of a tokenizer_config.json");
  const key = keyOf([version, compat ?? "", config ?? "", plain]);
  const cached = cacheFolder === undefined ? undefined : await readPacked(cacheFolder, key);
  if (cached && isPacked(cached)) return { key, bytes: shared(cached) };
  const packed = await pack(path, plain, { config, compat });
  try {
    if (cacheFolder !== undefined) await writePacked(cacheFolder, key, packed);
  } catch (error) {
    return { key, bytes: shared(packed), cacheError: /** @type {Error} */ (error).message };
  }
  return { key, bytes: shared(packed) };
}

/** @param {string} path */
async function isFolder(path) {
  return stat(path).then((found) => found.isDirectory(), () => false);
}

/** @param {string} path @param {string} cure */
async function read(path, cure) {
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`cannot read ${path}: ${/** @type {Error} */ (error).message}; ${cure}`);
  }
}

/** @param {string} path @param {Uint8Array} plain @param {{ config?: Uint8Array, compat?: Wanted["compat"] }} options */
async function pack(path, plain, options) {
  try {
    return (await Tokenizer.load(plain, options)).pack();
  } catch (error) {
    if (!(error instanceof Token2TextError)) throw error;
    throw new Error(`${path} cannot be loaded (${error.code}): ${error.message}`);
  }
}

/** @param {Uint8Array} bytes */
function isPacked(bytes) {
  try {
    Tokenizer.fromBytes(bytes).free();
    return true;
  } catch {
    return false;
  }
}

/** A digest in which each part counts where it stands. @param {(string | Uint8Array)[]} parts */
function keyOf(parts) {
  const digests = parts.map((part) => createHash("sha256").update(part).digest("hex"));
  return createHash("sha256").update(digests.join()).digest("hex");
}

/** @param {Uint8Array} bytes */
function shared(bytes) {
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}
