/** The JSON of a snapshot, as Python's `json` spells it: integers of any size in digits, `NaN` and infinities by name. */
import { outsideStrings } from "../exporters/json-repair.js";

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

/** With the spaces that Python's `json.dumps` writes. @param {string} json */
export function spaced(json) {
  return outsideStrings(json, (text) => text.replaceAll(",", ", ").replaceAll(":", ": "));
}
