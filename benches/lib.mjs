/** What the benchmarks share: tasks timed in turn, medians, and lines of a table. */

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
