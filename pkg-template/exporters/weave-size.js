/**
 * What Weave stores of a call: 3.5 MiB of JSON in four columns (`CLICKHOUSE_SINGLE_ROW_INSERT_BYTES_LIMIT` of W&B's server code,
 * weave 0.53.12). Of a larger call its server replaces whole columns, the largest first, by `{"_weave": {"error": "<EXCEEDS_LIMITS>"}}`,
 * and says nothing. So a call is made to fit before: lists of log-probabilities, masks and other numbers go first, then lists of
 * ids, the longest ones before others; if that is not enough, texts lose their ends.
 */
import { Token2TextError } from "../errors.js";
import { Numeral, parseExact, stringifyExact } from "./exact-json.js";

/** @typedef {import("./exact-json.js").Exact} Exact */
/** @typedef {import("./exact-json.js").ExactArray} ExactArray */
/** @typedef {import("./weave-calls.js").Call} Call */
/**
 * A value that can be left out, or cut.
 *
 * @typedef {object} Candidate
 * @property {string} path
 * @property {number} rank Those of the lowest go first.
 * @property {number} bytes
 * @property {(over: number) => Exact} smaller What stands in its place, if so many bytes are too many.
 * @property {(value: Exact) => void} set
 */

/** A little less than the limit, for numbers that the server spells longer. */
const MAX_STORED_BYTES = 3.5 * 1024 * 1024 - 4096;
const COLUMNS = ["inputs", "output", "attributes", "summary"];
/** A character of ours is at most as many bytes of the server's: `,` and a number of one digit and an exponent. */
const MAX_BYTES_A_CHAR = 8;
/** Shorter lists and texts stay. */
const MIN_ITEMS = 64;
const MIN_CHARS = 1000;
const REASON = "larger than Weave stores";
/** More than what tells how much was left out. */
const NOTE_BYTES = 80;
/** What goes first. */
const RANKS = { numbers: 0, ids: 1, text: 2 };

/**
 * Makes a call small enough, in place.
 *
 * @param {Call} call
 * @returns {string[]} JSON Pointers into the call: what was left out or cut.
 * @throws {Token2TextError} `limit_exceeded`: that cannot be done. `invalid_body`
 */
export function fit(call) {
  const texts = COLUMNS.map((column) => call.get(column) ?? "null");
  if (texts.reduce((sum, text) => sum + text.length, 0) * MAX_BYTES_A_CHAR <= MAX_STORED_BYTES) return [];
  let over = texts.reduce((sum, text) => sum + storedBytes(text), 0) - MAX_STORED_BYTES;
  if (over <= 0) return [];
  const columns = new Map(COLUMNS.map((column, i) => [column, parseExact(texts[i])]));
  const candidates = candidatesIn(columns, "").sort((a, b) => a.rank - b.rank || b.bytes - a.bytes);
  const cut = [];
  while (over > 0) {
    const candidate = candidates.shift();
    if (!candidate) throw new Token2TextError("limit_exceeded", `a call cannot be stored: it is ${over} bytes ${REASON}, and has no long lists or texts to cut`);
    const smaller = candidate.smaller(over);
    candidate.set(smaller);
    over -= candidate.bytes - storedBytes(stringifyExact(smaller));
    cut.push(candidate.path);
  }
  for (const [column, value] of columns) if (call.has(column)) call.set(column, stringifyExact(value));
  return cut;
}

/**
 * How many bytes the server makes of a JSON text, at most: Python's `json.dumps` puts a space behind commas and colons, and
 * writes what is not ASCII as `\uXXXX`.
 *
 * @param {string} text
 */
export function storedBytes(text) {
  let bytes = 0;
  let inString = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') inString = !inString;
    if (inString) {
      bytes += char > "~" ? 6 : 1;
      if (char === "\\") {
        bytes++;
        at++;
      }
    } else if (char === "," || char === ":") bytes += 2;
    // Where one has an exponent another may have zeros: 1e15.
    else if ((char === "e" || char === "E") && /[\d+-]/.test(text[at + 1])) bytes += 20;
    else if (char > " ") bytes++;
  }
  return bytes;
}

/** @param {Exact} value @param {string} path @returns {Candidate[]} */
function candidatesIn(value, path) {
  if (value instanceof Map) return [...value].flatMap(([key, item]) => candidate(item, `${path}/${escaped(key)}`, (other) => value.set(key, other)));
  if (Array.isArray(value)) return value.flatMap((item, i) => candidate(item, `${path}/${i}`, (other) => (value[i] = other)));
  return [];
}

/** The value as a candidate, or those in it. @param {Exact} value @param {string} path @param {(other: Exact) => void} set @returns {Candidate[]} */
function candidate(value, path, set) {
  if (typeof value === "string") {
    if (value.length < MIN_CHARS) return [];
    return [{ path, rank: RANKS.text, bytes: storedBytes(JSON.stringify(value)), smaller: (over) => beginning(value, over), set }];
  }
  if (!Array.isArray(value) || value.length < MIN_ITEMS || !value.every(isOfNumbers)) return candidatesIn(value, path);
  const rank = isOfIds(value) ? RANKS.ids : RANKS.numbers;
  return [{ path, rank, bytes: storedBytes(stringifyExact(value)), smaller: () => `<${value.length} numbers left out: ${REASON}>`, set }];
}

/** @param {Exact} value An item of a list. */
function isOfNumbers(value) {
  if (value === null || typeof value === "boolean" || value instanceof Numeral) return true;
  // OpenAI's log-probabilities are objects, SGLang's lists with the id and its text.
  return value instanceof Map ? value.has("logprob") : Array.isArray(value) && value.some((item) => item instanceof Numeral);
}

/** Whether these are whole numbers, also in rows, and not those of a mask. @param {ExactArray} list */
function isOfIds(list) {
  const all = (/** @type {(item: Exact) => boolean} */ holds) => list.every((item) => (Array.isArray(item) ? item.every(holds) : holds(item)));
  return all((item) => item instanceof Numeral && item.isInteger) && !all((item) => item instanceof Numeral && item.text.length === 1);
}

/** A text that is so many bytes shorter, or as short as it may get. @param {string} text @param {number} over */
function beginning(text, over) {
  let end = text.length;
  for (let bytes = 0; end > MIN_CHARS / 2 && bytes < over + NOTE_BYTES; end--) bytes += text[end - 1] > "~" ? 6 : 1;
  // Not in the middle of a pair.
  if (/[\ud800-\udbff]/.test(text[end - 1])) end--;
  return `${text.slice(0, end)} <${text.length - end} characters left out: ${REASON}>`;
}

/** @param {string} key */
function escaped(key) {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
