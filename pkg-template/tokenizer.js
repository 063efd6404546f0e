/// <reference lib="esnext.disposable" preserve="true" />
import { checkDriftOptions, driftOf } from "./drift.js";
import { slim } from "./engines.js";
import { Token2TextError, asToken2TextError, describe } from "./errors.js";
import { countIds, idWords, writeIds } from "./ids.js";
import { loadTokenizer, tokenizerFromBytes } from "./loading.js";
import { checkOptions } from "./options.js";
import { fromHex } from "./packed.js";
import { unpackPieces } from "./pieces.js";
import { TextStream } from "./stream.js";
import { SHORT, keep, lacks, textOf } from "./strings.js";
import { Memory, decodeUtf8 } from "./texts.js";

/** @typedef {import("./ids.js").TokenIds} TokenIds */
/** @typedef {import("./pieces.js").Pieces} Pieces */
/** @typedef {import("./drift.js").Drift} Drift */
/** @typedef {import("./drift.js").DriftOptions} DriftOptions */
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
 * @property {string} [hash] SHA-256 in hex of the file, plain (not gzip); another one is refused. A packed file has one of its own.
 * @property {(progress: Progress) => void} [onProgress] Called while the file arrives.
 * @property {AbortSignal} [signal]
 */
/** @typedef {Omit<TokenizerOptions, "config"> & LoadOnly} LoadOptions */

/** Ids and bytes of text in one decode, at most: beyond them the memory of a WebAssembly instance runs out, which ends it. */
const MAX_IDS = 64 << 20;
const MAX_BYTES = 2 ** 30;
/** What the core gives for more bytes than that. */
const TOO_MANY = 2 ** 32 - 1;
/** What the core adds to the form of a text that one id gives wherever it stands. */
const WHOLE = 4;
/** Room is made for so many ids at first. */
const LEAST_ROOM = 1024;
const CREATE = Symbol("create");

/** The instance a tokenizer lives in. @type {(tokenizer: Tokenizer) => Instance} */
export let instanceOf;

/** A tokenizer's core in an instance; in another one than its own a copy is kept. @type {(tokenizer: Tokenizer, instance: Instance) => Core} */
export let coreIn;

/** Makes one of a core; `sha256` is that of the plain tokenizer.json. @typedef {(core: Core, instance: Instance, sha256?: string) => Tokenizer} Construct */
/** @type {Construct} */
let construct;

/** A loaded `tokenizer.json`: token ids to text, equal to Python `tokenizers` byte for byte. */
export class Tokenizer {
  /** @type {Core | undefined} */
  #core;
  /** In other instances. @type {Map<Instance, Core>} */
  #copies = new Map();
  #instance;
  #sha256;
  /** @type {TokenizerInfo | undefined} */
  #info;
  #memory;
  /** Of all tokens, and without those that are skipped. @type {import("./strings.js").Strings} */
  #strings = [];
  /** @type {import("./strings.js").Strings} */
  #shown = [];
  /** How many ids there is room for in the memory, and where, in words: behind the two words of a result. */
  #room = 0;
  #start = 0;

  static {
    construct = (core, instance, sha256) => new Tokenizer(CREATE, core, instance, sha256);
    instanceOf = (tokenizer) => tokenizer.#instance;
    coreIn = (tokenizer, instance) => {
      const core = tokenizer.#alive();
      if (instance === tokenizer.#instance) return core;
      let copy = tokenizer.#copies.get(instance);
      if (!copy) tokenizer.#copies.set(instance, (copy = new instance.glue.TokenizerCore(core.pack(new Uint8Array()), "{}")));
      return copy;
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
    this.#memory = new Memory(instance.memory);
    this.#sha256 = sha256;
  }

  /**
   * Loads a tokenizer.json or the bytes of `pack()`, plain or gzip. A string is a URL; in Node a string without a scheme is
   * a path. The file is read as it comes and never in memory as a whole, but with `hash`, `config`, `compat` and `engine`. A
   * file that turns out to need the general engine is read from its source once more; of a Response the bytes are kept for that.
   *
   * @param {Source} source
   * @param {LoadOptions} [options]
   * @returns {Promise<Tokenizer>}
   */
  static load(source, options) {
    return loadTokenizer(source, options, construct);
  }

  /**
   * Makes a tokenizer from the plain bytes of a tokenizer.json, or from those of `pack()`.
   *
   * @param {Uint8Array | ArrayBuffer} bytes
   * @param {TokenizerOptions} [options]
   * @returns {Tokenizer}
   */
  static fromBytes(bytes, options) {
    return tokenizerFromBytes(bytes, options, construct);
  }

  /**
   * The text of the ids. Unknown ids give nothing, as in the reference. At most 64 Mi ids and 1 GiB of text.
   *
   * @param {TokenIds} ids
   * @param {DecodeOptions} [options]
   * @returns {string}
   */
  decode(ids, options) {
    return this.#text(ids, options === undefined ? false : skips(options));
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
        return this.#text(ids, skip);
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
    const length = this.#run(ids, skips(options), true);
    return this.#memory.bytes(this.#memory.words[this.#start], length).slice();
  }

  /**
   * What one id decodes to on its own, as text and as bytes; both are empty for an unknown id.
   *
   * @param {number} id
   * @returns {{ text: string, bytes: Bytes }}
   */
  tokenText(id) {
    const bytes = this.decodeBytes([id]);
    return { text: decodeUtf8(bytes), bytes };
  }

  /**
   * The text of the ids, and which of them gave which part of it. At most 16 Mi ids and 256 MiB of text.
   *
   * @param {TokenIds} ids
   * @param {DecodeOptions} [options]
   * @returns {Pieces}
   */
  pieces(ids, options) {
    const core = this.#alive();
    const skip = flag(options, "skipSpecialTokens", false, "pieces");
    const words = idWords(ids);
    try {
      return unpackPieces(core.pieces(words, skip), words.length, decodeUtf8);
    } catch (error) {
      throw asToken2TextError(error);
    }
  }

  /**
   * Decodes ids that arrive in parts.
   *
   * @param {DecodeOptions} [options]
   * @returns {TextStream}
   */
  stream(options) {
    const core = this.#alive();
    return new TextStream(new this.#instance.glue.StreamCore(core, flag(options, "skipSpecialTokens", false, "stream")));
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
    this.#needGeneral("encode");
    try {
      return core.encode(text, addSpecialTokens);
    } catch (error) {
      throw asToken2TextError(error);
    }
  }

  /**
   * Where ids differ from those that their text is encoded to, as Python `tokenizers` gives them: special tokens are kept in the
   * text and found in it again, none are added, nothing is truncated or padded. For a tokenizer that was loaded with
   * `engine: "general"`. At most 4 Mi ids and 64 MiB of text, of which at most 4 MiB without a special token.
   *
   * @param {TokenIds} ids
   * @param {DriftOptions} [options]
   * @returns {Drift}
   */
  drift(ids, options) {
    const core = this.#alive();
    const checked = checkDriftOptions(options);
    const words = idWords(ids);
    this.#needGeneral("drift");
    return driftOf(core, words, checked);
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
    for (const copy of this.#copies.values()) copy.free();
    this.#copies.clear();
    this.#core = undefined;
    this.#strings = this.#shown = [];
  }

  [Symbol.dispose]() {
    this.free();
  }

  /** @param {TokenIds} ids @param {boolean} skip */
  #text(ids, skip) {
    const strings = skip ? this.#shown : this.#strings;
    return textOf(strings, ids) ?? this.#learn(ids, skip, strings);
  }

  /** The text of a run, the strings of a short one kept for the next. @param {TokenIds} ids @param {boolean} skip @param {import("./strings.js").Strings} strings */
  #learn(ids, skip, strings) {
    const text = this.#read(ids, skip);
    if (ids.length > SHORT) return text;
    for (let i = 0; i < ids.length; i++) {
      const id = Number(ids[i]);
      if (!lacks(strings, id)) continue;
      const string = ids.length === 1 ? text : this.#read([id], skip);
      keep(strings, id, string, (this.#memory.words[this.#start + 1] & WHOLE) !== 0);
    }
    return text;
  }

  /** @param {TokenIds} ids @param {boolean} skip */
  #read(ids, skip) {
    const length = this.#run(ids, skip, false);
    const { words } = this.#memory;
    return this.#memory.text(words[this.#start + 1] & ~WHOLE, words[this.#start], length);
  }

  /** @param {string} call */
  #needGeneral(call) {
    if (this.#instance !== slim()) return;
    const cure = 'load the tokenizer with `await Tokenizer.load(source, { engine: "general" })`';
    throw new Token2TextError("engine_not_available", `${call} needs the general engine; ${cure}`);
  }

  #alive() {
    if (this.#core) return this.#core;
    throw new Token2TextError("freed", "this Tokenizer was freed; load it again with `await Tokenizer.load(...)`");
  }

  /**
   * Decodes in WebAssembly; gives how many bytes there are at the address in the result.
   *
   * @param {TokenIds} ids
   * @param {boolean} skip
   * @param {boolean} asBytes
   */
  #run(ids, skip, asBytes) {
    const core = this.#alive();
    const count = countIds(ids);
    if (count > this.#room) this.#reserve(core, count);
    writeIds(ids, this.#memory.words, this.#start + 2);
    try {
      const length = core.decode(count, skip, asBytes);
      if (length !== TOO_MANY) return length;
    } catch (error) {
      throw asToken2TextError(error);
    }
    throw tooMany(MAX_BYTES, "bytes of text");
  }

  /** @param {Core} core @param {number} count */
  #reserve(core, count) {
    if (count > MAX_IDS) throw tooMany(MAX_IDS, "ids");
    const room = Math.max(count, LEAST_ROOM);
    try {
      this.#start = core.reserve(room) >>> 2;
    } catch (error) {
      throw asToken2TextError(error);
    }
    this.#room = room;
  }
}

/** @param {number} most @param {string} what */
function tooMany(most, what) {
  return new Token2TextError("limit_exceeded", `one decode takes at most ${most} ${what}; decode in parts`);
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
