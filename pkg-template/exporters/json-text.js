/**
 * Parts of JSON text as they are written. `JSON.parse` would round large numbers, refuse `NaN` and forget the spelling; here a
 * part is a place in the text. Only what is needed to find the ends of values is checked.
 */
import { Token2TextError, messageOf } from "../errors.js";

/** @typedef {{ start: number, end: number }} Part */

const STRUCTURE = /["[\]{}]/g;
const NO_SPACE = /[^ \t\r\n]/g;
const END_OF_SCALAR = /[,\]}\s]|$/g;

/**
 * The members of an object by their key. Of two with one key the last counts, as in most readers.
 *
 * @param {string} text
 * @param {number} [start] Where its `{` is. Default: at the first character that is not white space.
 * @returns {Map<string, Part>}
 */
export function members(text, start = skipSpace(text, 0)) {
  /** @type {Map<string, Part>} */
  const found = new Map();
  for (const { key, ...part } of parts(text, start, "{", "}")) found.set(key, part);
  return found;
}

/**
 * The elements of an array.
 *
 * @param {string} text
 * @param {number} [start] Where its `[` is.
 * @returns {Part[]}
 */
export function elements(text, start = skipSpace(text, 0)) {
  return [...parts(text, start, "[", "]")].map(({ start, end }) => ({ start, end }));
}

/** The text of a member, undefined where there is none. @param {string} text @param {Map<string, Part>} parts @param {string} key */
export function memberText(text, parts, key) {
  const part = parts.get(key);
  return part && text.slice(part.start, part.end);
}

/** Bytes as text. What is not UTF-8 becomes U+FFFD. @param {Uint8Array} bytes */
export function textOf(bytes) {
  return new TextDecoder().decode(bytes);
}

/** The first place from `at` on that is not white space. @param {string} text @param {number} at */
function skipSpace(text, at) {
  NO_SPACE.lastIndex = at;
  return NO_SPACE.test(text) ? NO_SPACE.lastIndex - 1 : text.length;
}

/** @param {string} text @param {number} start @param {"{" | "["} open @param {"}" | "]"} close */
function* parts(text, start, open, close) {
  if (text[start] !== open) throw broken(text, start, open === "{" ? "an object" : "an array");
  let at = skipSpace(text, start + 1);
  if (text[at] === close) return;
  for (;;) {
    let key = "";
    if (open === "{") {
      const end = endOfString(text, at);
      key = unquoted(text.slice(at, end));
      at = skipSpace(text, end);
      if (text[at] !== ":") throw broken(text, at, "a colon");
      at = skipSpace(text, at + 1);
    }
    const end = endOfValue(text, at);
    yield { key, start: at, end };
    at = skipSpace(text, end);
    if (text[at] === close) return;
    if (text[at] !== ",") throw broken(text, at, `a comma or ${close}`);
    at = skipSpace(text, at + 1);
  }
}

/** @param {string} text @param {number} start */
function endOfValue(text, start) {
  if (text[start] === '"') return endOfString(text, start);
  if (text[start] === "{" || text[start] === "[") return endOfContainer(text, start);
  END_OF_SCALAR.lastIndex = start;
  const end = END_OF_SCALAR.exec(text)?.index ?? text.length;
  if (end === start) throw broken(text, start, "a value");
  return end;
}

/** @param {string} text @param {number} start */
function endOfContainer(text, start) {
  let depth = 0;
  STRUCTURE.lastIndex = start;
  while (STRUCTURE.test(text)) {
    const at = STRUCTURE.lastIndex - 1;
    const char = text[at];
    if (char === '"') STRUCTURE.lastIndex = endOfString(text, at);
    else if (char === "{" || char === "[") depth++;
    else if (--depth === 0) return at + 1;
  }
  throw broken(text, text.length, "a closing bracket");
}

/** @param {string} text @param {number} start */
function endOfString(text, start) {
  if (text[start] !== '"') throw broken(text, start, "a string");
  const end = stringEnd(text, start);
  if (end === undefined) throw broken(text, text.length, "a closing quote");
  return end;
}

/**
 * The place behind the string whose quote is at `start`, or undefined if it does not end.
 *
 * @param {string} text
 * @param {number} start
 */
export function stringEnd(text, start) {
  for (let quote = text.indexOf('"', start + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text[quote - 1 - slashes] === "\\") slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  return undefined;
}

/** @param {string} text */
function unquoted(text) {
  try {
    return String(JSON.parse(text));
  } catch (error) {
    throw new Token2TextError("invalid_body", `a key is not a JSON string: ${messageOf(error)}`, { cause: error });
  }
}

/** @param {string} text @param {number} at @param {string} wanted */
function broken(text, at, wanted) {
  const found = at < text.length ? `\`${text.slice(at, at + 20)}\`` : "the end";
  return new Token2TextError("invalid_body", `no JSON: ${wanted} is missing at character ${at}, where ${found} stands`);
}
