/** Values that are JSON but that a server which keeps its data in UTF-8 and in 64-bit integers cannot store. */
import { endOfString, textOf } from "./json-text.js";

/**
 * How much was replaced.
 *
 * @typedef {object} Replaced
 * @property {number} characters Escapes of half a character (`\ud83d` alone) and bytes that are no UTF-8, now U+FFFD.
 * @property {number} integers Integers that no 64 bits hold, now strings with the same digits.
 */

const ESCAPE = /\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(\\u[dD][89a-fA-F][\da-fA-F]{2})|\\./gs;
/** A quote, or an integer so long that it may be too large. */
const QUOTE_OR_LONG_INTEGER = /"|(?<![\d.eE+-])-?\d{19,}(?![\d.eE])/g;
const [MIN, MAX] = [-(2n ** 63n), 2n ** 64n - 1n];

/**
 * The text of bytes that should be UTF-8.
 *
 * @param {Uint8Array} bytes
 * @param {Replaced} replaced Is counted up.
 */
export function repairedText(bytes, replaced) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const text = textOf(bytes);
    replaced.characters += text.split("\ufffd").length - 1 - countEncoded(bytes);
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
 * @param {Replaced} replaced Is counted up.
 */
export function repair(text, replaced) {
  return withoutLargeIntegers(withoutHalves(text, replaced), replaced);
}

/** @param {string} text @param {Replaced} replaced */
function withoutHalves(text, replaced) {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return text;
  return text.replace(ESCAPE, (escape, half) => {
    if (half === undefined) return escape;
    replaced.characters++;
    return "\\ufffd";
  });
}

/** @param {string} text @param {Replaced} replaced */
function withoutLargeIntegers(text, replaced) {
  if (!/\d{19}/.test(text)) return text;
  const kept = [];
  let from = 0;
  QUOTE_OR_LONG_INTEGER.lastIndex = 0;
  for (let match = QUOTE_OR_LONG_INTEGER.exec(text); match; match = QUOTE_OR_LONG_INTEGER.exec(text)) {
    const [found] = match;
    if (found === '"') {
      QUOTE_OR_LONG_INTEGER.lastIndex = endOfString(text, match.index);
    } else if (!fits(found)) {
      kept.push(text.slice(from, match.index), `"${found}"`);
      from = match.index + found.length;
      replaced.integers++;
    }
  }
  return kept.length > 0 ? kept.join("") + text.slice(from) : text;
}

/** @param {string} digits */
function fits(digits) {
  if (digits.length > 20) return false;
  const value = BigInt(digits);
  return value >= MIN && value <= MAX;
}
