/// <reference lib="esnext.disposable" preserve="true" />
import { general, load, slim } from "./engines.js";
import { Token2TextError, asToken2TextError, describe } from "./errors.js";
import { countIds, writeIds } from "./ids.js";
import { PLAIN_OPTIONS, checkLoadOptions, checkOptions, jsonText, plainBytes } from "./options.js";
import { fromHex, isPacked, sourceOf, toHex } from "./packed.js";
import { asBytes, isKind, readSource, unlessAborted, unshared } from "./source.js";

/** @typedef {import("./ids.js").TokenIds} TokenIds */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Progress} Progress */
/** @typedef {import("./engines.js").Instance} Instance */
/** @typedef {import("./general.js").TokenizerCore} Core */
/**
 * Facts about a loaded tokenizer.
 *
 * @typedef {object} TokenizerInfo
 * @property {number} vocabSize Number of ids that decode to a token.
 * @property {string} decoder The declared decoder in words: `"ByteLevel"`.
 * @property {{ id: number, content: string }[]} specialTokens By id.
 * @property {"table" | "chain" | "general"} engine What decodes.
 * @property {string} [sha256] Of the plain tokenizer.json; only when it was loaded with `hash`, or from a packed file that
 *   records it.
 */
/** Bytes in memory of their own, as `fetch` and `Blob` take them. @typedef {ReturnType<Uint8Array["slice"]>} Bytes */
/**
 * @typedef {object} DecodeOptions
 * @property {boolean} [skipSpecialTokens] Leave out tokens that the tokenizer marks as special. Default: false.
 */
/**
 * @typedef {object} EncodeOptions
 * @property {boolean} [addSpecialTokens] Add what the file's post-processor puts around a text (`<s>`, `[CLS]`).
 *   Default: true.
 */
/**
 * @typedef {object} TokenizerOptions
 * @property {object | string | Uint8Array | ArrayBuffer} [config] tokenizer_config.json: parsed, as text or as bytes. Only
 *   read by `compat: "transformers4"` and `"transformers5"`.
 * @property {"tokenizers" | "transformers4" | "transformers5"} [compat] Whose reading is followed. Default: Python
 *   `tokenizers`, reading tokenizer.json as it is.
 * @property {"auto" | "general"} [engine] `"general"` loads into the module with the `tokenizers` crate also where decoding does not
 *   need it: for `encode`. Default: `"auto"`.
 */
/**
 * @typedef {object} LoadOnly
 * @property {object | Source} [config] As in `fromBytes`, or where to read it: a string that does not begin with `{` is a
 *   URL or a path.
 * @property {string} [hash] SHA-256 of the plain tokenizer.json in hex; another file is refused. Of a packed file, the
 *   one that it records of its tokenizer.json is compared: a label that shows what it was made of, no proof.
 * @property {(progress: Progress) => void} [onProgress] Called while the file arrives.
 * @property {AbortSignal} [signal]
 */
/** @typedef {Omit<TokenizerOptions, "config"> & LoadOnly} LoadOptions */

/** Bytes of a tokenizer file, at most. */
export const MAX_FILE = 256 << 20;

// The same result as Rust's lossy conversion; a leading U+FEFF is text here.
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
const CREATE = Symbol("create");

/** The instance a tokenizer lives in. @type {(tokenizer: Tokenizer) => Instance} */
export let instanceOf;

/** A tokenizer's core in an instance; in another one than its own a copy is kept. @type {(tokenizer: Tokenizer, instance: Instance) => Core} */
export let coreIn;

/** @type {(core: Core, instance: Instance, sha256?: string) => Tokenizer} */
let construct;

/** A loaded `tokenizer.json`: token ids to text, equal to Python `tokenizers` byte for byte. */
export class Tokenizer {
  /** @type {Core | undefined} */
  #core;
  /** @type {Core | undefined} */
  #copy;
  #instance;
  #sha256;
  /** @type {TokenizerInfo | undefined} */
  #info;
  #words = new Uint32Array();

  static {
    construct = (core, instance, sha256) => new Tokenizer(CREATE, core, instance, sha256);
    instanceOf = (tokenizer) => tokenizer.#instance;
    coreIn = (tokenizer, instance) => {
      const core = tokenizer.#alive();
      if (instance === tokenizer.#instance) return core;
      return (tokenizer.#copy ??= new instance.glue.TokenizerCore(core.pack(new Uint8Array()), "{}"));
    };
  }

  /**
   * @param {symbol} key
   * @param {Core} core
   * @param {Instance} instance
   * @param {string} [sha256]
   * @private
   */
  constructor(key, core, instance, sha256) {
    if (key !== CREATE) {
      const cure = "use `await Tokenizer.load(...)` or `Tokenizer.fromBytes(bytes)`";
      throw new Token2TextError("invalid_options", `a Tokenizer is not made with \`new\`; ${cure}`);
    }
    this.#core = core;
    this.#instance = instance;
    this.#sha256 = sha256;
  }

  /**
   * Loads a tokenizer.json or the bytes of `pack()`, plain or gzip. A string is a URL; in Node a string without a scheme is
   * a path.
   *
   * @param {Source} source
   * @param {LoadOptions} [options]
   * @returns {Promise<Tokenizer>}
   */
  static async load(source, options) {
    slim();
    const { hash, onProgress, signal, config, ...rest } = checkLoadOptions(options);
    const expected = checkHash(hash);
    const bytes = await readSource(source, { what: "tokenizer", limit: MAX_FILE, onProgress, signal });
    refuseHtml(bytes, source);
    if (expected) await verify(bytes, expected);
    const coreOptions = { ...rest, config: await loadConfig(config, signal) };
    try {
      return create(bytes, coreOptions, expected);
    } catch (error) {
      if (!isEngineNotAvailable(error)) throw error;
    }
    await unlessAborted(load("general", "this tokenizer"), signal, "tokenizer");
    return create(bytes, coreOptions, expected);
  }

  /**
   * Makes a tokenizer from the plain bytes of a tokenizer.json, or from those of `pack()`.
   *
   * @param {Uint8Array | ArrayBuffer} bytes
   * @param {TokenizerOptions} [options]
   * @returns {Tokenizer}
   */
  static fromBytes(bytes, options) {
    slim();
    const { config, ...rest } = checkOptions(options, PLAIN_OPTIONS, "Tokenizer.fromBytes");
    const plain = plainBytes(bytes);
    return create(plain, { ...rest, config: configText(config) });
  }

  /**
   * The text of the ids. Unknown ids give nothing, as in the reference. At most 64 Mi ids and 1 GiB of text.
   *
   * @param {TokenIds} ids
   * @param {DecodeOptions} [options]
   * @returns {string}
   */
  decode(ids, options) {
    return textOf(this.#decode(ids, skips(options)));
  }

  /**
   * The text of each list of ids.
   *
   * @param {TokenIds[]} lists
   * @param {DecodeOptions} [options]
   * @returns {string[]}
   */
  decodeBatch(lists, options) {
    if (!Array.isArray(lists)) {
      throw new Token2TextError("invalid_ids", `decodeBatch takes an array of lists of ids, not ${describe(lists)}`);
    }
    const skip = skips(options);
    return lists.map((ids, i) => {
      try {
        return textOf(this.#decode(ids, skip));
      } catch (error) {
        if (!(error instanceof Token2TextError) || error.code !== "invalid_ids") throw error;
        throw new Token2TextError("invalid_ids", `list ${i}: ${error.message}`);
      }
    });
  }

  /**
   * The bytes whose UTF-8 reading is the text of `decode`: characters cut off at the ends are whole bytes here.
   *
   * @param {TokenIds} ids
   * @param {DecodeOptions} [options]
   * @returns {Bytes}
   */
  decodeBytes(ids, options) {
    return this.#decode(ids, skips(options)).slice();
  }

  /**
   * What one id decodes to on its own, as text and as bytes; both are empty for an unknown id.
   *
   * @param {number} id
   * @returns {{ text: string, bytes: Bytes }}
   */
  tokenText(id) {
    const bytes = this.decodeBytes([id]);
    return { text: textOf(bytes), bytes };
  }

  /**
   * The ids of a text, equal to those of Python `tokenizers`. For a tokenizer that was loaded with `engine: "general"`. At
   * most 4 MiB of text; a lone surrogate is encoded as U+FFFD.
   *
   * @param {string} text
   * @param {EncodeOptions} [options]
   * @returns {Uint32Array}
   */
  encode(text, options) {
    const core = this.#alive();
    const addSpecialTokens = flag(options, "addSpecialTokens", true, "encode");
    if (typeof text !== "string") {
      throw new Token2TextError("invalid_options", `encode takes a string, not ${describe(text)}`);
    }
    if (this.#instance === slim()) {
      const cure = 'load the tokenizer with `await Tokenizer.load(source, { engine: "general" })`';
      throw new Token2TextError("engine_not_available", `encode needs the general engine; ${cure}`);
    }
    try {
      return core.encode(text, addSpecialTokens);
    } catch (error) {
      throw asToken2TextError(error);
    }
  }

  /**
   * The tokenizer as bytes that `load` and `fromBytes` take in place of its tokenizer.json, many times faster and without
   * `encode`. They record `info.sha256`. Another version of the package may refuse them: keep the tokenizer.json.
   *
   * @returns {Bytes}
   */
  pack() {
    try {
      return /** @type {Bytes} */ (this.#alive().pack(fromHex(this.#sha256 ?? "")));
    } catch (error) {
      throw asToken2TextError(error);
    }
  }

  /** Facts about the vocabulary. @returns {TokenizerInfo} */
  get info() {
    const core = this.#alive();
    this.#info ??= /** @type {TokenizerInfo} */ ({ ...core.info(), ...(this.#sha256 && { sha256: this.#sha256 }) });
    return this.#info;
  }

  /** Gives the memory back. Enrichers made with this tokenizer go on working. */
  free() {
    this.#core?.free();
    this.#copy?.free();
    this.#core = this.#copy = undefined;
  }

  [Symbol.dispose]() {
    this.free();
  }

  #alive() {
    if (this.#core) return this.#core;
    throw new Token2TextError("freed", "this Tokenizer was freed; load it again with `await Tokenizer.load(...)`");
  }

  /**
   * A view of the decoded bytes in WebAssembly memory, good until the next call.
   *
   * @param {TokenIds} ids
   * @param {boolean} skip
   */
  #decode(ids, skip) {
    const core = this.#alive();
    const count = countIds(ids);
    try {
      const start = core.reserve(count) >>> 2;
      writeIds(ids, this.#memory().subarray(start, start + count));
      const length = core.decode(count, skip);
      return new Uint8Array(this.#instance.memory.buffer, core.outputPtr(), length);
    } catch (error) {
      throw asToken2TextError(error);
    }
  }

  /** The memory as words. A grown memory has a new buffer, so the view is made again. */
  #memory() {
    const { buffer } = this.#instance.memory;
    if (this.#words.buffer !== buffer) this.#words = new Uint32Array(buffer);
    return this.#words;
  }
}

/**
 * Makes one in the slim instance, or in the general one where the options ask for it or the file needs it.
 *
 * @param {Uint8Array} bytes
 * @param {{ config?: string, compat?: string, engine?: string }} options
 * @param {string} [sha256]
 */
function create(bytes, options, sha256) {
  const json = jsonText(options, "the options of a tokenizer");
  /** @param {Instance} instance */
  const createIn = (instance) => {
    try {
      return construct(new instance.glue.TokenizerCore(bytes, json), instance, sha256 ?? sourceOf(bytes));
    } catch (error) {
      throw asToken2TextError(error);
    }
  };
  if (options.engine === "general") return createIn(general());
  try {
    return createIn(slim());
  } catch (error) {
    if (!isEngineNotAvailable(error)) throw error;
  }
  return createIn(general());
}

/** @param {Uint8Array} bytes */
function textOf(bytes) {
  try {
    return utf8.decode(bytes);
  } catch (error) {
    const what = "the text is longer than a string can be here; decode in parts, or use decodeBytes";
    throw new Token2TextError("limit_exceeded", what, { cause: error });
  }
}

/** @param {unknown} error */
function isEngineNotAvailable(error) {
  return error instanceof Token2TextError && error.code === "engine_not_available";
}

/** @param {DecodeOptions} [options] */
function skips(options) {
  return flag(options, "skipSpecialTokens", false, "decode");
}

/**
 * The only option of a call, a boolean.
 *
 * @param {object | undefined} options
 * @param {string} name
 * @param {boolean} byDefault
 * @param {string} call
 * @returns {boolean}
 */
function flag(options, name, byDefault, call) {
  if (options === undefined) return byDefault;
  const { [name]: value = byDefault } = checkOptions(/** @type {Record<string, unknown>} */ (options), [name], call);
  if (typeof value === "boolean") return value;
  throw new Token2TextError("invalid_options", `\`${name}\` must be true or false, not ${describe(value)}`);
}

/** @param {unknown} config @returns {string | undefined} */
function configText(config) {
  if (config === undefined || typeof config === "string") return config;
  const bytes = asBytes(config);
  if (bytes) return utf8.decode(unshared(bytes));
  if (isKind(config, "Object")) return jsonText(config, "`config`");
  const wanted = "tokenizer_config.json as an object, as text or as bytes";
  throw new Token2TextError("invalid_options", `\`config\` must be ${wanted}, not ${describe(config)}`);
}

/** @param {unknown} config @param {AbortSignal} [signal] */
async function loadConfig(config, signal) {
  const inline = typeof config === "string" && config.trimStart().startsWith("{");
  const plain = isKind(config, "Object");
  if (config === undefined || inline || plain) return configText(config);
  const source = /** @type {Source} */ (config);
  return utf8.decode(await readSource(source, { what: "tokenizer config", limit: MAX_FILE, signal }));
}

/** @param {unknown} hash */
function checkHash(hash) {
  if (hash === undefined) return undefined;
  if (typeof hash === "string" && /^[0-9a-f]{64}$/i.test(hash)) return hash.toLowerCase();
  throw new Token2TextError("invalid_options", `\`hash\` must be a SHA-256 in 64 hex digits, not ${describe(hash)}`);
}

/** @param {Uint8Array} bytes @param {string} expected */
async function verify(bytes, expected) {
  if (isPacked(bytes)) return verifyPacked(bytes, expected);
  if (!globalThis.crypto?.subtle) {
    throw new Token2TextError("invalid_options", "`hash` needs WebCrypto, which browsers offer only to https and localhost pages");
  }
  const actual = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (bytes))));
  if (actual === expected) return;
  throw new Token2TextError("invalid_tokenizer", `this is another file than expected: its SHA-256 is ${actual}, not ${expected}`);
}

/** @param {Uint8Array} bytes @param {string} expected */
function verifyPacked(bytes, expected) {
  const source = sourceOf(bytes);
  if (source === expected) return;
  const what = source ? `that of a tokenizer.json whose SHA-256 is ${source}` : "one that does not record of which tokenizer.json it is";
  throw new Token2TextError("invalid_tokenizer", `this is another packed tokenizer than expected: ${what}, not ${expected}`);
}

/** Many servers answer a wrong address with a page and status 200. @param {Uint8Array} bytes @param {Source} source */
function refuseHtml(bytes, source) {
  const start = new TextDecoder().decode(unshared(bytes.subarray(0, 200))).trimStart().toLowerCase();
  if (!start.startsWith("<!doctype html") && !start.startsWith("<html")) return;
  const name = typeof source === "string" || isKind(source, "URL") ? `${source}` : "this";
  const why = "probably a login page, or an address that does not exist there";
  throw new Token2TextError("invalid_tokenizer", `${name} is an HTML page, not a tokenizer.json: ${why}`);
}
