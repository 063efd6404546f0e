/** The classes and functions of `token2text/worker`: those of the main entry, with Promises. */
/// <reference lib="esnext.disposable" preserve="true" />
import { checkDriftOptions } from "./drift.js";
import { Token2TextError } from "./errors.js";
import { compile } from "./instantiate.js";
import { ORIGIN, PLAIN_OPTIONS, checkLoadOptions, checkOptions, checkWaiting, optionsText, plainBytes, tokenizerEntries } from "./options.js";
import { asBytes, isKind, readSource, unshared } from "./source.js";
import { MAX_FILE } from "./loading.js";
import { absolute, call, configure, end, start } from "./worker-connection.js";
import { Remote } from "./worker-remote.js";
import { unmark } from "./worker-transfer.js";

export { transfer } from "./worker-transfer.js";

/** @typedef {import("./index.js").WasmSource} WasmSource */
/** @typedef {import("./index.js").InitOptions} InitOptions */
/** @typedef {import("./index.js").TokenIds} TokenIds */
/** @typedef {import("./index.js").Bytes} Bytes */
/** @typedef {import("./index.js").Source} Source */
/** @typedef {import("./index.js").LoadOptions} LoadOptions */
/** @typedef {import("./index.js").TokenizerOptions} TokenizerOptions */
/** @typedef {import("./index.js").TokenizerInfo} TokenizerInfo */
/** @typedef {import("./index.js").DecodeOptions} DecodeOptions */
/** @typedef {import("./index.js").EncodeOptions} EncodeOptions */
/** @typedef {import("./index.js").Drift} Drift */
/** @typedef {import("./index.js").DriftOptions} DriftOptions */
/** @typedef {import("./index.js").Pieces} Pieces */
/** @typedef {import("./index.js").EnricherOptions} EnricherOptions */
/** @typedef {import("./index.js").StripOptions} StripOptions */
/** @typedef {import("./index.js").ReadOptions} ReadOptions */
/** @typedef {import("./index.js").Span} Span */
/** @typedef {import("./index.js").SpanInput} SpanInput */
/** @typedef {import("./index.js").WriteFormat} WriteFormat */
/** @typedef {import("./index.js").WriteOptions} WriteOptions */
/** @typedef {import("./index.js").Origin} Origin */
/** @typedef {import("./index.js").Report} Report */
/** @typedef {import("./index.js").Rollouts} Rollouts */
/** @typedef {import("./index.js").RolloutOptions} RolloutOptions */

/**
 * Starts the worker. It also starts by itself at the first call, so this is needed only to give addresses, or to have it
 * ready early. While a worker runs, other addresses change nothing; `terminate` it first.
 *
 * @param {WasmSource | Promise<WasmSource>} [source] As for `init` of the main entry: the package's `slim_bg.wasm`.
 * @param {InitOptions & { worker?: URL | string | (() => unknown) }} [options] `general`, `reader` and `spans` as for the
 *   main entry. `worker`: the address of the worker's script (`token2text/worker-host`), or a function that starts
 *   it and gives the Worker; it is called again when a worker has to be replaced.
 * @returns {Promise<void>}
 */
export async function init(source, options) {
  const given = checkOptions(options, ["general", "reader", "spans", "worker"], "init");
  const [slim, general, reader, spans] = await Promise.all([
    startable(source, "slim_bg.wasm"),
    startable(given.general, "general_bg.wasm"),
    startable(given.reader, "reader_bg.wasm"),
    startable(given.spans, "spans_bg.wasm"),
  ]);
  configure({ source: absolute(given.worker), args: [slim, { general, reader, spans }] });
  await start();
}

/**
 * Ends the worker and gives its memory back. Calls that wait are rejected with `instance_lost`. The next call starts another
 * worker; tokenizers and enrichers that were not freed are made again there, from the source they were loaded from.
 */
export function terminate() {
  end("it was terminated", { isWanted: true });
}

/** @type {(tokenizer: Tokenizer) => Remote} */
let aliveRemote;

/** A loaded `tokenizer.json` in the worker: token ids to text, equal to Python `tokenizers` byte for byte. */
export class Tokenizer {
  #remote;

  /** @param {Remote} remote @private */
  constructor(remote) {
    if (!(remote instanceof Remote)) {
      const cure = "use `await Tokenizer.load(...)` or `await Tokenizer.fromBytes(bytes)`";
      throw new Token2TextError("invalid_options", `a Tokenizer is not made with \`new\`; ${cure}`);
    }
    this.#remote = remote;
    remote.belongTo(this);
  }

  static {
    aliveRemote = (tokenizer) => tokenizer.#alive();
  }

  /**
   * Loads a tokenizer.json or the bytes of `pack()`, plain or gzip. A string is a URL; in Node a string without a scheme is
   * a path. The source is kept, bytes in a Blob, to load it again when a worker has to be replaced.
   *
   * @param {Source} source
   * @param {LoadOptions} [options]
   * @returns {Promise<Tokenizer>}
   */
  static async load(source, options) {
    const { onProgress, signal, config, ...rest } = checkLoadOptions(options);
    const file = await readable(source, { what: "tokenizer", limit: MAX_FILE, onProgress, signal });
    const configFile = await readable(config, { what: "tokenizer config", limit: MAX_FILE, signal });
    const args = [file, { ...rest, config: configFile }];
    const remote = new Remote((makes) => call({ method: "load", args, makes }));
    // Of a Response the progress was told while it was read here.
    const reports = isKind(source, "Response") ? {} : { onProgress };
    await remote.handle((makes) => call({ method: "load", args, makes, signal, ...reports }));
    return new Tokenizer(remote);
  }

  /**
   * Makes a tokenizer from the plain bytes of a tokenizer.json, or from those of `pack()`.
   *
   * @param {Uint8Array | ArrayBuffer} bytes
   * @param {TokenizerOptions} [options]
   * @returns {Promise<Tokenizer>}
   */
  static async fromBytes(bytes, options) {
    const { config, ...rest } = checkOptions(options, PLAIN_OPTIONS, "Tokenizer.fromBytes");
    const args = [inBlob(plainBytes(bytes)), { ...rest, config: inBlob(config) }];
    const remote = new Remote((makes) => call({ method: "fromBytes", args, makes }));
    await remote.handle();
    return new Tokenizer(remote);
  }

  /**
   * The text of the ids. Unknown ids give nothing, as in the reference. At most 64 Mi ids and 1 GiB of text.
   *
   * @param {TokenIds} ids
   * @param {DecodeOptions} [options]
   * @returns {Promise<string>}
   */
  async decode(ids, options) {
    return this.#alive().call("decode", [ids, options]);
  }

  /**
   * The text of each list of ids, with one message to the worker and back.
   *
   * @param {TokenIds[]} lists
   * @param {DecodeOptions} [options]
   * @returns {Promise<string[]>}
   */
  async decodeBatch(lists, options) {
    return this.#alive().call("decodeBatch", [lists, options]);
  }

  /**
   * The bytes whose UTF-8 reading is the text of `decode`: characters cut off at the ends are whole bytes here.
   *
   * @param {TokenIds} ids
   * @param {DecodeOptions} [options]
   * @returns {Promise<Bytes>}
   */
  async decodeBytes(ids, options) {
    return this.#alive().call("decodeBytes", [ids, options]);
  }

  /**
   * What one id decodes to on its own, as text and as bytes; both are empty for an unknown id.
   *
   * @param {number} id
   * @returns {Promise<{ text: string, bytes: Bytes }>}
   */
  async tokenText(id) {
    return this.#alive().call("tokenText", [id]);
  }

  /**
   * The text of the ids, and which of them gave which part of it. At most 16 Mi ids and 256 MiB of text.
   *
   * @param {TokenIds} ids
   * @param {DecodeOptions} [options]
   * @returns {Promise<Pieces>}
   */
  async pieces(ids, options) {
    return this.#alive().call("pieces", [ids, options]);
  }

  /**
   * The ids of a text, equal to those of Python `tokenizers`. For a tokenizer that was loaded with `engine: "general"`. At
   * most 4 MiB of text; a lone surrogate is encoded as U+FFFD.
   *
   * @param {string} text
   * @param {EncodeOptions} [options]
   * @returns {Promise<Uint32Array>}
   */
  async encode(text, options) {
    return this.#alive().call("encode", [text, options]);
  }

  /**
   * Where ids differ from those that their text is encoded to, as Python `tokenizers` gives them: special tokens are kept in the
   * text and found in it again, none are added, nothing is truncated or padded. For a tokenizer that was loaded with
   * `engine: "general"`. At most 4 Mi ids and 64 MiB of text, of which at most 4 MiB without a special token.
   *
   * @param {TokenIds} ids
   * @param {DriftOptions} [options]
   * @returns {Promise<Drift>}
   */
  async drift(ids, options) {
    const remote = this.#alive();
    const { ranges, onProgress } = checkDriftOptions(options);
    return remote.call("drift", [ids, { ranges }], onProgress);
  }

  /**
   * The tokenizer as bytes that `load` and `fromBytes` take in place of its tokenizer.json, many times
   * faster and without `encode`. They record `info.sha256`. Another version of the package may refuse them: keep the
   * tokenizer.json.
   *
   * @returns {Promise<Bytes>}
   */
  async pack() {
    return this.#alive().call("pack", []);
  }

  /** Facts about the vocabulary. @returns {Promise<TokenizerInfo>} */
  get info() {
    return this.#info();
  }

  async #info() {
    return this.#alive().call("info", []);
  }

  /** Gives the memory back. Enrichers made with this tokenizer go on working. */
  async free() {
    this.#remote.free();
  }

  [Symbol.dispose]() {
    this.#remote.free();
  }

  #alive() {
    return this.#remote.alive("Tokenizer", "load it again with `await Tokenizer.load(...)`");
  }
}

/** Finds token ids in traces and writes their text beside them, in the worker. Made by `await Enricher.create(...)`. */
export class Enricher {
  #remote;

  /** @param {Remote} remote @private */
  constructor(remote) {
    if (!(remote instanceof Remote)) {
      throw new Token2TextError("invalid_options", "an Enricher of the worker is made with `await Enricher.create(tokenizers, options)`");
    }
    this.#remote = remote;
    remote.belongTo(this);
  }

  /**
   * @param {Tokenizer | Record<string, Tokenizer>} tokenizers One, or several by a pattern on the model name (`"Qwen/*"`;
   *   the first match counts, `"*"` also takes spans without a model).
   * @param {EnricherOptions} [options]
   * @returns {Promise<Enricher>}
   */
  static async create(tokenizers, options = {}) {
    const entries = remoteEntries(tokenizers);
    const plain = JSON.parse(optionsText(options, "Enricher.create"));
    const remote = new Remote((makes) => withHandles(entries, (handles) => call({ method: "create", args: [handles, plain], makes })));
    await remote.handle();
    return new Enricher(remote);
  }

  /**
   * Enriches a parsed body: a record or a list of them, or what JSON.parse makes of any of the formats that are JSON. The
   * result is a copy, with which the input shares nothing.
   *
   * @template T
   * @param {T} object
   * @returns {Promise<{ span: import("./report.js").Enriched<T>, report: Report }>}
   */
  async enrich(object) {
    return this.#alive().call("enrich", [object]);
  }

  /**
   * Enriches a body as it is on the wire or on disk: a JSON document, JSON lines, an event stream or OTLP's
   * protocol buffers. `transfer(bytes)` saves a copy.
   *
   * @param {Uint8Array | ArrayBuffer} bytes
   * @param {Origin} [origin]
   * @returns {Promise<{ body: Bytes, report: Report }>}
   */
  async enrichBody(bytes, origin) {
    const { contentType, url } = checkOptions(origin, ORIGIN, "enrichBody");
    return this.#alive().call("enrichBody", [bytes, { contentType: String(contentType ?? ""), url: String(url ?? "") }]);
  }

  /** Gives the memory back. */
  async free() {
    this.#remote.free();
  }

  [Symbol.dispose]() {
    this.#remote.free();
  }

  #alive() {
    return this.#remote.alive("Enricher", "make another with `await Enricher.create(tokenizers, options)`");
  }
}

/**
 * Takes the text out again that an Enricher with default options has written: the bytes of before.
 *
 * @param {Uint8Array | ArrayBuffer} bytes
 * @param {StripOptions} [options]
 * @returns {Promise<Bytes>}
 */
export async function strip(bytes, options) {
  return call({ method: "strip", args: [bytes, sendable(options)] });
}

/**
 * Reads the spans of a body as plain data. It needs no tokenizer.
 *
 * @param {Uint8Array | ArrayBuffer} bytes
 * @param {ReadOptions} [options]
 * @returns {Promise<Span[]>}
 */
export async function read(bytes, options) {
  return call({ method: "read", args: [bytes, sendable(options)] });
}

/**
 * Writes spans as a body that a backend takes: a trace request of OTLP, MLflow's `traces.json`, a batch for Weave's
 * `calls/complete`, a body for Trackio's `bulk_log`, or JSON lines.
 *
 * @param {readonly SpanInput[]} spans
 * @param {WriteFormat} format
 * @param {WriteOptions} [options]
 * @returns {Promise<Bytes>}
 */
export async function write(spans, format, options) {
  return call({ method: "write", args: [spans, format, options] });
}

/**
 * Reads the rollouts of a body: the calls of each in order, how each goes on from the one before, whose which token is, the
 * messages, and what is wrong.
 *
 * @param {Uint8Array | ArrayBuffer} bytes
 * @param {Tokenizer | Record<string, Tokenizer>} tokenizers As for an Enricher.
 * @param {RolloutOptions} [options]
 * @returns {Promise<Rollouts>}
 */
export async function readRollouts(bytes, tokenizers, options) {
  const entries = remoteEntries(tokenizers);
  const { onProgress, signal, ...rest } = checkWaiting(options ?? {});
  return withHandles(entries, (handles) => call({ method: "readRollouts", args: [bytes, handles, sendable(rest)], signal, onProgress }));
}

/** Tokenizers by pattern, as objects in the worker. @param {Tokenizer | Record<string, Tokenizer>} tokenizers @returns {[string, Remote][]} */
function remoteEntries(tokenizers) {
  const entries = tokenizerEntries(tokenizers, (value) => value instanceof Tokenizer);
  return entries.map(([pattern, tokenizer]) => [pattern, aliveRemote(tokenizer)]);
}

/**
 * Does something with tokenizers in the worker. One that was freed is only made again for this.
 *
 * @template T
 * @param {[string, Remote][]} entries
 * @param {(handles: [string, number][]) => Promise<T>} work
 */
async function withHandles(entries, work) {
  for (const [, tokenizer] of entries) tokenizer.hold();
  try {
    const handles = entries.map(async ([pattern, tokenizer]) => /** @type {[string, number]} */ ([pattern, await tokenizer.handle()]));
    return await work(await Promise.all(handles));
  } finally {
    for (const [, tokenizer] of entries) tokenizer.release();
  }
}

/**
 * Options without a URL object, which cannot be sent to another thread.
 *
 * @template {{ url?: string | URL | null } | undefined} T
 * @param {T} options
 */
function sendable(options) {
  return options?.url instanceof URL ? { ...options, url: options.url.href } : options;
}

/**
 * A source as another thread can read it, more than once.
 *
 * @param {unknown} source
 * @param {import("./source.js").ReadOptions} options
 */
async function readable(source, options) {
  if (isKind(source, "Response")) return inBlob(await readSource(/** @type {Response} */ (source), options));
  const isInline = typeof source === "string" && source.trimStart().startsWith("{");
  return isInline ? source : absolute(inBlob(source));
}

/** Bytes in a Blob, of which the worker gets no copy before it reads it, and which does not change. @param {unknown} value */
function inBlob(value) {
  const bytes = asBytes(value);
  if (!bytes) return value;
  unmark(value);
  return new Blob([/** @type {BlobPart} */ (unshared(bytes))]);
}

/**
 * A module as every worker can start it.
 *
 * @param {WasmSource | Promise<WasmSource> | undefined} source
 * @param {string} file
 */
async function startable(source, file) {
  if (source === undefined || typeof source === "string" || isKind(source, "URL")) return absolute(source);
  return compile(source, file);
}
