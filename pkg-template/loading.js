/** How the file of a tokenizer becomes one: in which instance, in a piece or as it arrives. */
import { general, load, slim } from "./engines.js";
import { Token2TextError, asToken2TextError, describe } from "./errors.js";
import { PLAIN_OPTIONS, checkLoadOptions, checkOptions, jsonText, plainBytes } from "./options.js";
import { HEAD, isPacked, sourceOf, toHex } from "./packed.js";
import { asBytes, isKind, readChunks, readSource, unlessAborted, unshared } from "./source.js";
import { decodeUtf8 } from "./texts.js";

/** @typedef {import("./tokenizer.js").Tokenizer} Tokenizer */
/** @typedef {import("./tokenizer.js").Construct} Construct */
/** @typedef {import("./tokenizer.js").LoadOptions} LoadOptions */
/** @typedef {import("./tokenizer.js").TokenizerOptions} TokenizerOptions */
/** @typedef {import("./source.js").Source} Source */
/** @typedef {import("./source.js").Progress} Progress */
/** @typedef {import("./engines.js").Instance} Instance */
/** @typedef {import("./general.js").TokenizerCore} Core */

/** Bytes of a tokenizer file, at most. */
export const MAX_FILE = 256 << 20;
/** What an option may be. @type {Record<string, string[]>} */
const CHOICES = { compat: ["tokenizers", "transformers4", "transformers5"], engine: ["auto", "general"] };
/** So much of a file is given to the module at a time. */
const PIECE = 64 << 10;

/**
 * What `Tokenizer.load` does.
 *
 * @param {Source} source
 * @param {LoadOptions | undefined} options
 * @param {Construct} make
 * @returns {Promise<Tokenizer>}
 */
export async function loadTokenizer(source, options, make) {
  slim();
  const { hash, onProgress, signal, config, ...rest } = checkLoadOptions(options);
  const expected = checkHash(hash);
  const reading = { what: "tokenizer", limit: MAX_FILE, onProgress, signal };
  if (!expected && config === undefined && isOwn(rest) && !asBytes(source)) return stream(source, reading, make);
  const bytes = await readSource(source, reading);
  refuseHtml(bytes, source);
  if (expected) await verify(bytes, expected);
  const coreOptions = { ...rest, config: await loadConfig(config, signal) };
  try {
    return create(bytes, coreOptions, make, expected);
  } catch (error) {
    if (!isEngineNotAvailable(error)) throw error;
  }
  await unlessAborted(load("general", "this tokenizer"), signal, "tokenizer");
  return create(bytes, coreOptions, make, expected);
}

/**
 * What `Tokenizer.fromBytes` does.
 *
 * @param {Uint8Array | ArrayBuffer} bytes
 * @param {TokenizerOptions | undefined} options
 * @param {Construct} make
 * @returns {Tokenizer}
 */
export function tokenizerFromBytes(bytes, options, make) {
  slim();
  const { config, ...rest } = checkOptions(options, PLAIN_OPTIONS, "Tokenizer.fromBytes");
  const plain = plainBytes(bytes);
  return create(plain, { ...rest, config: configText(config) }, make);
}

/**
 * Makes one in the slim instance, or in the general one where the options ask for it or the file needs it.
 *
 * @param {Uint8Array} bytes
 * @param {{ config?: string, compat?: string, engine?: string }} options
 * @param {Construct} make
 * @param {string} [sha256]
 */
function create(bytes, options, make, sha256) {
  const asked = jsonText(options, "the options of a tokenizer");
  checkChoices(options);
  if (isPacked(bytes) && isOwn(options) && options.config !== undefined) {
    const what = "a packed tokenizer already holds its reading; leave out `config`, or load its tokenizer.json";
    throw new Token2TextError("invalid_options", what);
  }
  const json = isOwn(options) ? "{}" : asked;
  /** @param {Instance} instance */
  const createIn = (instance) => {
    try {
      const feeds = !isPacked(bytes) && isOwn(options);
      const core = feeds ? feed(instance, bytes) : new instance.glue.TokenizerCore(bytes, json);
      return make(core, instance, isPacked(bytes) ? sourceOf(bytes) : sha256);
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

/**
 * Loads a file while it comes.
 *
 * @param {Source} source
 * @param {import("./source.js").ReadOptions} reading
 * @param {Construct} make
 */
async function stream(source, reading, make) {
  const response = isKind(source, "Response") ? /** @type {Response} */ (source) : undefined;
  const again = response?.body && !response.bodyUsed ? response.clone() : undefined;
  try {
    return await streamInto(slim(), source, reading, make);
  } catch (error) {
    if (!isEngineNotAvailable(error)) throw error;
    await unlessAborted(load("general", "this tokenizer"), reading.signal, "tokenizer");
    return await streamInto(general(), again ?? source, reading, make);
  } finally {
    again?.body?.cancel().catch(() => {});
  }
}

/**
 * @param {Instance} instance
 * @param {Source} source
 * @param {import("./source.js").ReadOptions} reading
 * @param {Construct} make
 */
async function streamInto(instance, source, reading, make) {
  /** @type {InstanceType<Instance["glue"]["LoaderCore"]> | undefined} */
  let loader;
  let total = 0;
  try {
    /** @param {Progress} progress */
    const onProgress = (progress) => {
      total = progress.total ?? 0;
      reading.onProgress?.(progress);
    };
    let head = new Uint8Array();
    for await (const chunk of readChunks(source, { ...reading, onProgress })) {
      if (head.length === 0) refuseHtml(chunk, source);
      if (head.length < HEAD) head = Uint8Array.from([...head, ...chunk.subarray(0, HEAD)]);
      push(chunk, (loader ??= new instance.glue.LoaderCore(total)));
    }
    loader ??= new instance.glue.LoaderCore(0);
    return make(/** @type {Core} */ (loader.finish()), instance, sourceOf(head));
  } catch (error) {
    throw asToken2TextError(error);
  } finally {
    loader?.free();
  }
}

/** @param {Instance} instance @param {Uint8Array} bytes @returns {Core} */
function feed(instance, bytes) {
  const loader = new instance.glue.LoaderCore(bytes.length);
  try {
    push(bytes, loader);
    return /** @type {Core} */ (loader.finish());
  } finally {
    loader.free();
  }
}

/** @param {Record<string, unknown>} options */
function checkChoices(options) {
  for (const [name, choices] of Object.entries(CHOICES)) {
    const choice = options[name];
    if (choice === undefined || choices.includes(/** @type {string} */ (choice))) continue;
    const list = choices.map((text) => `"${text}"`).join(", ");
    throw new Token2TextError("invalid_options", `\`${name}\` must be one of ${list}, not ${describe(choice)}`);
  }
}

/** Whether nothing but our own engine can be needed. @param {{ compat?: string, engine?: string }} options */
function isOwn({ compat = "tokenizers", engine = "auto" }) {
  return compat === "tokenizers" && engine === "auto";
}

/** Each piece is copied into the module, where no copy of the file is. @param {Uint8Array} bytes @param {InstanceType<Instance["glue"]["LoaderCore"]>} loader */
function push(bytes, loader) {
  for (let at = 0; at < bytes.length; at += PIECE) loader.push(bytes.subarray(at, at + PIECE));
}

/** @param {unknown} error */
function isEngineNotAvailable(error) {
  return error instanceof Token2TextError && error.code === "engine_not_available";
}

/** @param {unknown} config @returns {string | undefined} */
function configText(config) {
  if (config === undefined || typeof config === "string") return config;
  const bytes = asBytes(config);
  if (bytes) return decodeUtf8(unshared(bytes));
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
  return decodeUtf8(await readSource(source, { what: "tokenizer config", limit: MAX_FILE, signal }));
}

/** @param {unknown} hash */
function checkHash(hash) {
  if (hash === undefined) return undefined;
  if (typeof hash === "string" && /^[0-9a-f]{64}$/i.test(hash)) return hash.toLowerCase();
  throw new Token2TextError("invalid_options", `\`hash\` must be a SHA-256 in 64 hex digits, not ${describe(hash)}`);
}

/** @param {Uint8Array} bytes @param {string} expected */
async function verify(bytes, expected) {
  if (!globalThis.crypto?.subtle) {
    throw new Token2TextError("invalid_options", "`hash` needs WebCrypto, which browsers offer only to https and localhost pages");
  }
  const actual = toHex(new Uint8Array(await crypto.subtle.digest("SHA-256", /** @type {BufferSource} */ (bytes))));
  if (actual === expected) return;
  throw new Token2TextError("invalid_tokenizer", `this is another file than expected: its SHA-256 is ${actual}, not ${expected}`);
}

/** Many servers answer a wrong address with a page and status 200. @param {Uint8Array} bytes @param {Source} source */
function refuseHtml(bytes, source) {
  const start = new TextDecoder().decode(unshared(bytes.subarray(0, 200))).trimStart().toLowerCase();
  if (!start.startsWith("<!doctype html") && !start.startsWith("<html")) return;
  const name = typeof source === "string" || isKind(source, "URL") ? `${source}` : "this";
  const why = "probably a login page, or an address that does not exist there";
  throw new Token2TextError("invalid_tokenizer", `${name} is an HTML page, not a tokenizer.json: ${why}`);
}
