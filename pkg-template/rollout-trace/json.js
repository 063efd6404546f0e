/** The JSON of a snapshot, as Python's `json` spells it: integers of any size in digits, `NaN` and infinities by name. */

/**
 * @param {unknown} value A snapshot.
 * @returns {string}
 */
export function jsonOf(value) {
  if (typeof value === "string") return JSON.stringify(value);
  if (value === null || value === undefined) return "null";
  if (typeof value !== "object") return String(value);
  if (ArrayBuffer.isView(value)) return listOf(/** @type {any} */ (value));
  if (Array.isArray(value)) return value.every(isNumber) ? listOf(value) : listOf(value.map(jsonOf));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${JSON.stringify(key)}:${jsonOf(member)}`).join()}}`;
}

/** @param {{ join: () => string }} items */
function listOf(items) {
  return `[${items.join()}]`;
}

/** @param {unknown} value */
function isNumber(value) {
  return typeof value === "number";
}

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/g;
const NAMED = /NaN|-?Infinity/g;

/** With the spaces that Python's `json.dumps` writes. @param {string} json */
export function spaced(json) {
  return outsideStrings(json, (text) => text.replaceAll(",", ", ").replaceAll(":", ": "));
}

/** With strings for numbers that JSON has not, as Trackio's client sends them. @param {string} json */
export function finite(json) {
  return json.search(NAMED) === -1 ? json : outsideStrings(json, (text) => text.replace(NAMED, '"$&"'));
}

/** Changes what is between strings, which may be long lists of numbers. @param {string} json @param {(text: string) => string} change */
function outsideStrings(json, change) {
  const parts = [];
  let at = 0;
  for (const { 0: string, index } of json.matchAll(STRING)) {
    parts.push(change(json.slice(at, index)), string);
    at = index + string.length;
  }
  return parts.join("") + change(json.slice(at));
}
