/** Checks of what callers give, for the classes of this thread and for those of the worker. */
import { Token2TextError, describe } from "./errors.js";
import { isKind } from "./source.js";

export const PLAIN_OPTIONS = ["config", "compat", "engine"];
export const LOAD_OPTIONS = [...PLAIN_OPTIONS, "hash", "onProgress", "signal"];
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
  if (!isKind(options, "Object")) {
    throw new Token2TextError("invalid_options", `the options of ${call} must be an object, not ${describe(options)}`);
  }
  try {
    return JSON.stringify(options);
  } catch (error) {
    throw new Token2TextError("invalid_options", `the options of ${call} cannot be written as JSON`, { cause: error });
  }
}
