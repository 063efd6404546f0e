/** Tables in Markdown, and the numbers in them. */
import { row } from "../lib.mjs";

/** @param {string[]} header @param {(string | number)[][]} lines */
export function table(header, lines) {
  return [row(header), row(header.map(() => "---")), ...lines.map(row)].join("\n");
}

/** @template T @param {T[]} rows @param {(row: T) => string} title @returns {[string, T[]][]} */
export function groups(rows, title) {
  /** @type {Map<string, T[]>} */
  const found = new Map();
  for (const one of rows) found.set(title(one), [...(found.get(title(one)) ?? []), one]);
  return [...found];
}

/** Each once, in the order of the first. @template T @param {T[]} items */
export function distinct(items) {
  return [...new Set(items)];
}

/** Three digits are more than the machine is worth. @param {number} value */
export function digits(value) {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}
