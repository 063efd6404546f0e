/**
 * JSON without loss, where `JSON.parse` would change what is sent back: numbers keep their text (MLflow's times are larger
 * than 2^53, Python writes NaN), objects keep the order of their keys. Where values are only moved, `json-text.js` does with their
 * places in the text.
 */
import { Token2TextError } from "../errors.js";
import { stringEnd } from "./json-text.js";

/** A number as it was written. */
export class Numeral {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** Whether it is written as an integer. */
  get isInteger() {
    return /^-?\d+$/.test(this.text);
  }
}

/** @typedef {null | boolean | string | Numeral | ExactArray | ExactObject} Exact */
/** @typedef {Exact[]} ExactArray */
/** @typedef {Map<string, Exact>} ExactObject */

const MAX_DEPTH = 1000;
const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|Infinity)|NaN/y;
const WORD = /true|false|null/y;
/** @type {Record<string, Exact>} */
const WORDS = { true: true, false: false, null: null };

/**
 * @param {string} text
 * @returns {Exact}
 * @throws {Token2TextError} `invalid_body`: the text is not JSON (with Python's `NaN`, `Infinity` and `-Infinity`); `limit_exceeded`: it
 *   is too deep.
 */
export function parseExact(text) {
  const parser = new Parser(text);
  const value = parser.value(0);
  parser.skip(SPACE);
  if (parser.at < text.length) throw parser.error();
  return value;
}

/** The value of a JSON text, or undefined if it is none. @param {string} text @returns {Exact | undefined} */
export function tryParseExact(text) {
  try {
    return parseExact(text);
  } catch {
    return undefined;
  }
}

class Parser {
  at = 0;

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** @param {RegExp} token Sticky. @returns {string} */
  skip(token) {
    token.lastIndex = this.at;
    const found = token.exec(this.text)?.[0] ?? "";
    this.at += found.length;
    return found;
  }

  /** @param {string} char */
  takes(char) {
    this.skip(SPACE);
    if (this.text[this.at] !== char) return false;
    this.at++;
    return true;
  }

  /** @param {string} char */
  expect(char) {
    if (!this.takes(char)) throw this.error();
  }

  error() {
    return new Token2TextError("invalid_body", `not JSON at character ${this.at}`);
  }

  /** @param {number} depth @returns {Exact} */
  value(depth) {
    if (depth > MAX_DEPTH) throw new Token2TextError("limit_exceeded", `JSON deeper than ${MAX_DEPTH}`);
    if (this.takes("{")) return this.object(depth);
    if (this.takes("[")) return this.array(depth);
    if (this.text[this.at] === '"') return this.string();
    const word = this.skip(WORD);
    if (word !== "") return WORDS[word];
    const number = this.skip(NUMBER);
    if (number === "") throw this.error();
    return new Numeral(number);
  }

  /** @param {number} depth */
  object(depth) {
    /** @type {ExactObject} */
    const members = new Map();
    if (this.takes("}")) return members;
    do {
      this.skip(SPACE);
      const key = this.string();
      this.expect(":");
      members.set(key, this.value(depth + 1));
    } while (this.takes(","));
    this.expect("}");
    return members;
  }

  /** @param {number} depth */
  array(depth) {
    /** @type {ExactArray} */
    const items = [];
    if (this.takes("]")) return items;
    do items.push(this.value(depth + 1));
    while (this.takes(","));
    this.expect("]");
    return items;
  }

  /** @returns {string} */
  string() {
    const end = this.text[this.at] === '"' ? stringEnd(this.text, this.at) : undefined;
    if (end === undefined) throw this.error();
    const slice = this.text.slice(this.at, end);
    try {
      const value = JSON.parse(slice);
      this.at = end;
      return value;
    } catch {
      throw this.error();
    }
  }
}

/** @param {Exact} value @returns {string} */
export function stringifyExact(value) {
  if (value instanceof Numeral) return value.text;
  if (value instanceof Map) return `{${[...value].map(([key, item]) => `${JSON.stringify(key)}: ${stringifyExact(item)}`).join(", ")}}`;
  if (Array.isArray(value)) return `[${value.map(stringifyExact).join(", ")}]`;
  return JSON.stringify(value);
}

/** The members of an object; none if it is something else. @param {Exact | undefined} value @returns {ExactObject} */
export function members(value) {
  return value instanceof Map ? value : new Map();
}

/** The elements of an array; none if it is something else. @param {Exact | undefined} value @returns {ExactArray} */
export function elements(value) {
  return Array.isArray(value) ? value : [];
}
