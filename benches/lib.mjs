/** What the benchmarks share: tasks timed in turn, medians, lines of a table, and their part of RESULTS.md. */
import { readFileSync, writeFileSync } from "node:fs";

const RESULTS = new URL("RESULTS.md", import.meta.url);

/** @param {number[]} numbers */
export function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
}

/**
 * Milliseconds of one call of each task, the median of some rounds. The tasks take turns, so that a busy machine slows
 * all of them; the first rounds are for the compilers and do not count.
 *
 * @template {string} Name
 * @param {Record<Name, () => unknown>} tasks
 * @param {{ rounds: number, repeats?: number, warmUp?: number }} options
 * @returns {Record<Name, number>}
 */
export function inTurn(tasks, { rounds, repeats = 1, warmUp = 3 }) {
  const names = /** @type {Name[]} */ (Object.keys(tasks));
  const times = /** @type {Record<Name, number[]>} */ (/** @type {unknown} */ (Object.fromEntries(names.map((name) => [name, []]))));
  for (let round = -warmUp; round < rounds; round++) {
    for (const name of names) {
      const start = performance.now();
      for (let i = 0; i < repeats; i++) tasks[name]();
      if (round >= 0) times[name].push((performance.now() - start) / repeats);
    }
  }
  return /** @type {Record<Name, number>} */ (Object.fromEntries(names.map((name) => [name, median(times[name])])));
}

/** A row of a table in Markdown. @param {(string | number)[]} cells */
export function row(cells) {
  return `| ${cells.join(" | ")} |`;
}

/** Puts a part of RESULTS.md, from its heading to the next of that rank, in the place of the one before. @param {string} part */
export function writeResults(part) {
  const [heading] = part.split("\n", 1);
  const parts = readFileSync(RESULTS, "utf8").split(/^(?=# )/m);
  const known = parts.findIndex((other) => other.startsWith(`${heading}\n`));
  parts[known < 0 ? parts.length : known] = `${part.trim()}\n\n`;
  writeFileSync(RESULTS, `${parts.join("").trimEnd()}\n`);
}
