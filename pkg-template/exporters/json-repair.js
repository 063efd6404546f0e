/**
 * Values that a server which keeps its data in UTF-8 and in 64-bit integers cannot store, and would drop a whole batch for: half
 * characters and larger integers.
 */
import { stringEnd } from "./json-text.js";

/**
 * What was replaced: `"surrogate"` is half a character (`\ud83d` alone) or a byte that is no UTF-8, now U+FFFD; `"integer"` is one of
 * too many bits, now a string with the same digits.
 *
 * @typedef {"surrogate" | "integer"} Repair
 */
/** Is told of each. @typedef {(repair: Repair) => void} Note */
/** How much was replaced. @typedef {{ characters: number, integers: number }} Replaced */

export const MAX_INT64 = 2n ** 63n - 1n;
export const MAX_UINT64 = 2n ** 64n - 1n;
const MIN_INT64 = -(2n ** 63n);

const MAY_NEED_REPAIR = /\\u[dD][89a-fA-F]|\d{19}/;
/** A pair is matched whole, and so is any other escape, so that `\\ud800` is no surrogate. */
const ESCAPE = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(\\u[dD][89a-fA-F][\da-fA-F]{2})|\\./gs;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LONG_INTEGER = /^-?\d{19,}$/;
const NON_FINITE = /NaN|Infinity/;
const NON_FINITES = /NaN|-?Infinity/g;

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/** Counts. @param {Replaced} replaced @returns {Note} */
export function counting(replaced) {
  return (repair) => void replaced[repair === "integer" ? "integers" : "characters"]++;
}

/**
 * The text of bytes that should be UTF-8.
 *
 * @param {Uint8Array} bytes
 * @param {Note} note
 */
export function repairedText(bytes, note) {
  try {
    return strict.decode(bytes);
  } catch {
    const text = lenient.decode(bytes);
    const replaced = text.split("\ufffd").length - 1 - countEncoded(bytes);
    for (let i = 0; i < replaced; i++) note("surrogate");
    return text;
  }
}

/** How often U+FFFD itself is in the bytes: EF BF BD. @param {Uint8Array} bytes */
function countEncoded(bytes) {
  let count = 0;
  for (let at = bytes.indexOf(0xef); at !== -1; at = bytes.indexOf(0xef, at + 1)) {
    if (bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) count++;
  }
  return count;
}

/**
 * The same JSON text without such values. A text that has none is returned as it is.
 *
 * @param {string} text
 * @param {Note} note
 * @param {bigint} [max] The largest integer that the server stores. Default: integers stay, of whatever size.
 */
export function repair(text, note, max) {
  if (!MAY_NEED_REPAIR.test(text)) return text;
  const numbers = (/** @type {string} */ between) => (max === undefined ? between : between.replace(NUMBER, (number) => repairedNumber(number, note, max)));
  return outsideStrings(text, numbers, (string) => string.replace(ESCAPE, (escape, half) => repairedEscape(escape, half, note)));
}

/**
 * The same JSON text with something else for `NaN` and the infinities, for servers that read JSON as the standard has it.
 *
 * @param {string} text
 * @param {(name: string) => string} become The JSON that stands for each.
 */
export function finite(text, become) {
  return NON_FINITE.test(text) ? outsideStrings(text, (between) => between.replaceAll(NON_FINITES, become)) : text;
}

/**
 * JSON text with what is between its strings changed, and the strings too if that is asked for.
 *
 * @param {string} text
 * @param {(text: string) => string} between
 * @param {(string: string) => string} [inside] Is given a string with its quotes.
 */
export function outsideStrings(text, between, inside = (string) => string) {
  const parts = [];
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at);
    parts.push(between(text.slice(at, quote === -1 ? undefined : quote)));
    if (quote === -1) break;
    at = stringEnd(text, quote) ?? text.length;
    parts.push(inside(text.slice(quote, at)));
  }
  return parts.join("");
}

/** @param {string} escape @param {string | undefined} half @param {Note} note */
function repairedEscape(escape, half, note) {
  if (half === undefined) return escape;
  note("surrogate");
  return "\\ufffd";
}

/** @param {string} number @param {Note} note @param {bigint} max */
function repairedNumber(number, note, max) {
  if (!LONG_INTEGER.test(number) || fits(number, max)) return number;
  note("integer");
  return `"${number}"`;
}

/** Digits beyond 20 are not looked at: a number may have millions. @param {string} digits @param {bigint} max */
function fits(digits, max) {
  if (digits.length > 20) return false;
  const value = BigInt(digits);
  return value >= MIN_INT64 && value <= max;
}
