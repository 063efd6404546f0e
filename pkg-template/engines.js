/**
 * The two WebAssembly instances of this process. `slim` decodes nearly every tokenizer; `general` holds the Rust
 * `tokenizers` crate too and is loaded only when a file needs it. Objects of one cannot be given to the other.
 */
import { Token2TextError, messageOf } from "./errors.js";

/** That of general, which has `encode` too. @typedef {typeof import("./general.js")} Glue */
/** @typedef {{ glue: Glue, memory: WebAssembly.Memory }} Instance */
/**
 * What differs between Node and browsers.
 *
 * @typedef {object} Host
 * @property {() => Promise<void>} loadGeneral
 * @property {() => void} [loadGeneralSync] Only where a file can be read and compiled synchronously.
 * @property {(source: string | URL) => AsyncSource | Promise<AsyncSource> | undefined} [openFile]
 *   Opens a path or `file:` URL; undefined for anything else.
 */
/** @typedef {{ chunks: AsyncIterable<Uint8Array>, total?: number, name: string }} AsyncSource */

/** @type {{ slim?: Instance, general?: Instance }} */
const instances = {};
/** @type {Host | undefined} */
let host;
/** @type {Promise<void> | undefined} */
let generalReady;
/** @type {(() => Promise<unknown>) | undefined} */
let start;

/** @param {"slim" | "general"} name @param {unknown} glue @param {{ memory: WebAssembly.Memory }} exports */
export function setInstance(name, glue, exports) {
  instances[name] = { glue: /** @type {Glue} */ (glue), memory: exports.memory };
}

/** @param {Host} value */
export function setHost(value) {
  host = value;
}

/** @returns {Host} */
export function currentHost() {
  if (!host) throw notInitialised();
  return host;
}

/** @returns {Instance} */
export function slim() {
  if (!instances.slim) throw notInitialised();
  return instances.slim;
}

/** Names what starts WebAssembly where it is needed and no entry has done so. @param {() => Promise<unknown>} how */
export function startBy(how) {
  start = how;
}

/** Waits for WebAssembly, if there is something that starts it. */
export async function started() {
  if (!instances.slim) await start?.();
}

/**
 * The general instance, loaded now where that can be done synchronously.
 *
 * @returns {Instance}
 */
export function general() {
  if (!instances.general) currentHost().loadGeneralSync?.();
  if (instances.general) return instances.general;
  throw new Token2TextError(
    "engine_not_available",
    "this tokenizer needs the general engine, which has not been loaded; use `await Tokenizer.load(...)`, which fetches it",
  );
}

/**
 * Loads the general instance, once; after a failure the next call tries again.
 *
 * @param {string} [what] What needs it, for the message.
 * @returns {Promise<Instance>}
 */
export async function loadGeneral(what = "this tokenizer") {
  if (instances.general) return instances.general;
  generalReady ??= currentHost().loadGeneral();
  try {
    await generalReady;
  } catch (error) {
    const message = `${what} needs the general engine, and general_bg.wasm could not be loaded`;
    throw new Token2TextError("engine_not_available", `${message}: ${messageOf(error)}`, { cause: error });
  } finally {
    generalReady = undefined;
  }
  return general();
}

function notInitialised() {
  return new Token2TextError("not_initialised", "token2text is not initialised; call `await init()` once before anything else");
}
