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

/** What is outside of strings and told apart by it, and strings, which are passed over. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|[,:]|NaN|-?Infinity/g;

/** With the spaces that Python's `json.dumps` writes. @param {string} json */
export function spaced(json) {
  return json.replace(TOKENS, (token) => (token === "," || token === ":" ? `${token} ` : token));
}

/** With strings for numbers that JSON has not, as Trackio's client sends them. @param {string} json */
export function finite(json) {
  return json.replace(TOKENS, (token) => (token.endsWith("N") || token.endsWith("y") ? `"${token}"` : token));
}
