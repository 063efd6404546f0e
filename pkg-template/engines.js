/**
 * The WebAssembly instances of this process. `slim` decodes nearly every tokenizer; `general` holds the Rust `tokenizers` crate
 * too and is loaded only when a file needs it; `spans` has what slim has, and `read`, `write` and conversations, `reader` what slim has, and
 * rollouts, built for speed; each is loaded when one of these is asked for. Objects of one cannot be given to another.
 */
import { Token2TextError, messageOf } from "./errors.js";

/**
 * The glue of each; those of slim and reader have no `encode`.
 *
 * @typedef {typeof import("./general.js")} GeneralGlue
 * @typedef {{ slim: GeneralGlue, general: GeneralGlue, reader: GeneralGlue, spans: typeof import("./spans.js") }} Glues
 */
/** @typedef {keyof Glues} Name */
/** @typedef {Exclude<Name, "slim">} LaterName */
/** @template {Name} N @typedef {{ glue: Glues[N], memory: WebAssembly.Memory }} InstanceOf */
/** One that has tokenizers. @typedef {InstanceOf<"general">} Instance */
/**
 * What differs between Node and browsers.
 *
 * @typedef {object} Host
 * @property {(name: LaterName) => Promise<void>} load Starts a module, with `setInstance`.
 * @property {(name: LaterName) => void} [loadSync] Only where a file can be read and compiled synchronously.
 * @property {(source: string | URL) => AsyncSource | Promise<AsyncSource> | undefined} [openFile]
 *   Opens a path or `file:` URL; undefined for anything else.
 */
/**
 * @typedef {object} AsyncSource
 * @property {AsyncIterable<Uint8Array>} chunks
 * @property {number} [total] How many bytes there will be, if that is known.
 * @property {string} name For messages.
 * @property {boolean} [lends] Each chunk is written over by the next one.
 */

/** @type {Partial<{ [N in Name]: InstanceOf<any> }>} */
const instances = {};
/** What is being loaded. @type {Partial<Record<LaterName, Promise<void>>>} */
const loading = {};
/** @type {Host | undefined} */
let host;
/** @type {(() => Promise<unknown>) | undefined} */
let start;

/** @param {Name} name @param {unknown} glue @param {{ memory: WebAssembly.Memory }} exports */
export function setInstance(name, glue, exports) {
  instances[name] = { glue: /** @type {Glues[Name]} */ (glue), memory: exports.memory };
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
  const cure = "use `await Tokenizer.load(...)`, which fetches it";
  return now("general", `this tokenizer needs the general engine, which has not been loaded; ${cure}`);
}

/**
 * An instance, loaded now where that can be done synchronously.
 *
 * @template {LaterName} N
 * @param {N} name
 * @param {string} message What is thrown elsewhere.
 * @returns {InstanceOf<N>}
 */
export function now(name, message) {
  if (!instances[name]) currentHost().loadSync?.(name);
  if (instances[name]) return instances[name];
  throw new Token2TextError("engine_not_available", message);
}

/**
 * Loads an instance, once; after a failure the next call tries again.
 *
 * @template {LaterName} N
 * @param {N} name
 * @param {string} what What needs it, for the message.
 * @returns {Promise<InstanceOf<N>>}
 */
export async function load(name, what) {
  if (!instances[name]) {
    loading[name] ??= currentHost()
      .load(name)
      .finally(() => delete loading[name]);
    try {
      await loading[name];
    } catch (error) {
      const message = `${what} needs ${name}_bg.wasm, which could not be loaded: ${messageOf(error)}`;
      throw new Token2TextError("engine_not_available", message, { cause: error });
    }
  }
  return /** @type {InstanceOf<N>} */ (instances[name]);
}

/**
 * Bytes of WebAssembly memory that this package holds in this thread. It grows with the largest body and never shrinks: a
 * program that must give it back ends the thread.
 *
 * @returns {number}
 */
export function memoryBytes() {
  return Object.values(instances).reduce((sum, { memory }) => sum + memory.buffer.byteLength, 0);
}

function notInitialised() {
  return new Token2TextError("not_initialised", "token2text is not initialised; call `await init()` once before anything else");
}
