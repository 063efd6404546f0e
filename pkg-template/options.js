/** Checks of what callers give, for the classes of this thread and for those of the worker. */
import { Token2TextError, describe, messageOf } from "./errors.js";
import { asBytes, isKind } from "./source.js";

export const PLAIN_OPTIONS = ["config", "compat", "engine"];
const LOAD_OPTIONS = [...PLAIN_OPTIONS, "hash", "onProgress", "signal"];
export const ORIGIN = ["contentType", "url"];

/**
 * The options as an object; an unknown name is an error, so that a typing mistake never passes for a default.
 *
 * @template {object} T
 * @param {T | undefined} options
 * @param {readonly string[]} known
 * @param {string} call How the caller writes the call, for the message.
 * @returns {T}
 */
export function checkOptions(options, known, call) {
  if (options === undefined) return /** @type {T} */ ({});
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new Token2TextError("invalid_options", `the options of ${call} must be an object, not ${describe(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const list = known.map((option) => `\`${option}\``).join(", ");
    throw new Token2TextError("invalid_options", `${call} has no option \`${name}\`; it has ${list}`);
  }
  return options;
}

/** The options of `Tokenizer.load`. @param {import("./tokenizer.js").LoadOptions} [options] */
export function checkLoadOptions(options) {
  return checkWaiting(checkOptions(options, LOAD_OPTIONS, "Tokenizer.load"));
}

/** What every long call may have: who is told how far it is, and who ends it. @template {{ onProgress?: unknown, signal?: unknown }} T @param {T} checked @returns {T} */
export function checkWaiting(checked) {
  const { onProgress, signal } = checked;
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw new Token2TextError("invalid_options", `\`onProgress\` must be a function, not ${describe(onProgress)}`);
  }
  if (signal !== undefined && !isKind(signal, "AbortSignal")) {
    throw new Token2TextError("invalid_options", `\`signal\` must be an AbortSignal, not ${describe(signal)}`);
  }
  return checked;
}

/** The bytes for `Tokenizer.fromBytes`. @param {unknown} value */
export function plainBytes(value) {
  const bytes = asBytes(value);
  if (bytes) return bytes;
  const cure = "use `await Tokenizer.load(...)` for a URL, a path, a Response or a Blob";
  throw new Token2TextError("invalid_options", `Tokenizer.fromBytes takes bytes, not ${describe(value)}; ${cure}`);
}

/**
 * Tokenizers by pattern; one alone is for everything.
 *
 * @template T
 * @param {unknown} tokenizers
 * @param {(value: unknown) => value is T} isTokenizer
 * @returns {[string, T][]}
 */
export function tokenizerEntries(tokenizers, isTokenizer) {
  if (isTokenizer(tokenizers)) return [["*", tokenizers]];
  const wanted = "an Enricher takes one Tokenizer, or an object such as { \"Qwen/*\": tokenizer }";
  if (!isKind(tokenizers, "Object")) throw new Token2TextError("invalid_options", `${wanted}, not ${describe(tokenizers)}`);
  if (typeof (/** @type {{ decode?: unknown }} */ (tokenizers).decode) === "function") {
    const cure = "take both from the same of token2text, token2text/worker and token2text/inline";
    throw new Token2TextError("invalid_options", `this Tokenizer is of another entry of the package than the Enricher; ${cure}`);
  }
  const entries = Object.entries(/** @type {Record<string, unknown>} */ (tokenizers));
  if (entries.length === 0) throw new Token2TextError("invalid_options", `${wanted}, not an empty object`);
  for (const [pattern, value] of entries) {
    if (isTokenizer(value)) continue;
    const what = `tokenizers[${JSON.stringify(pattern)}] is ${describe(value)}`;
    throw new Token2TextError("invalid_options", `${what}, not a Tokenizer; load it first with \`await Tokenizer.load(...)\``);
  }
  return /** @type {[string, T][]} */ (entries);
}

/** The names and values are checked on the other side. @param {unknown} options @param {string} call */
export function optionsText(options, call) {
  return jsonText(plainOptions(options, call), `the options of ${call}`);
}

/**
 * The options of `strip`: as JSON, and the origin of the body, of which empty texts say nothing.
 *
 * @param {unknown} options
 * @returns {[options: string, contentType: string, url: string]}
 */
export function stripOptions(options) {
  const { contentType, url, ...rest } = plainOptions(options, "strip");
  return [optionsText(rest, "strip"), String(contentType ?? ""), String(url ?? "")];
}

/** @param {unknown} options @param {string} call @returns {Record<string, unknown>} */
function plainOptions(options, call) {
  if (isKind(options, "Object")) return /** @type {Record<string, unknown>} */ (options);
  throw new Token2TextError("invalid_options", `the options of ${call} must be an object, not ${describe(options)}`);
}

/** @param {unknown} value @param {string} what @returns {string} */
export function jsonText(value, what) {
  try {
    return JSON.stringify(value, refuseOddNumbers);
  } catch (error) {
    throw new Token2TextError("invalid_options", `${what} cannot be written as JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** JSON would make null of them, which is a default. @param {string} name @param {unknown} value */
function refuseOddNumbers(name, value) {
  if (typeof value === "number" && !Number.isFinite(value)) throw new TypeError(`\`${name}\` is ${value}`);
  return value;
}
