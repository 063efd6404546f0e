/**
 * Tasks timed in turn, each as often as a round needs to be long enough for the clock; in Node and in browsers.
 *
 * A clock tells milliseconds. In Node it is the processor time of the process with all its threads: on a machine that others use
 * too, the time on the wall is mostly theirs.
 */

/** Milliseconds of one call: the median of the rounds, and half the distance of their quartiles over it. @typedef {{ ms: number, spread: number }} Timed */

/** A task that is slow is not asked more than this many rounds when they would take longer than so many milliseconds. */
const LEAST_ROUNDS = 5;
const LONG = 1500;

/** @param {number[]} numbers @returns {Timed} */
export function summary(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = (/** @type {number} */ part) => sorted[Math.floor((sorted.length - 1) * part)];
  const ms = at(0.5);
  return { ms, spread: (at(0.75) - at(0.25)) / 2 / ms };
}

/**
 * The tasks take turns, so that what slows a machine for a while slows all of them. Two rounds are for the compilers; the second says how often a task is called in each of the others.
 *
 * @param {Record<string, () => unknown>} tasks
 * @param {{ rounds: number, leastMs: number, now: () => number }} options
 * @returns {Record<string, Timed>}
 */
export function race(tasks, { rounds, leastMs, now }) {
  const contestants = Object.entries(tasks).map(([name, task]) => ({ name, task, calls: 1, rounds, times: /** @type {number[]} */ ([]) }));
  for (let round = -2; round < rounds; round++) {
    for (const contestant of contestants) {
      if (round < 0) Object.assign(contestant, calibrate(contestant.task, rounds, leastMs, now));
      else if (round < contestant.rounds) contestant.times.push(timeOf(contestant.task, contestant.calls, now));
    }
    // Nobody always comes after the one that leaves the most garbage.
    contestants.push(...contestants.splice(0, 1));
  }
  const times = new Map(contestants.map((contestant) => [contestant.name, contestant.times]));
  return Object.fromEntries(Object.keys(tasks).map((name) => [name, summary(times.get(name) ?? [])]));
}

/** @param {() => unknown} task @param {number} rounds @param {number} leastMs @param {() => number} now */
function calibrate(task, rounds, leastMs, now) {
  const start = now();
  let calls = 0;
  let ms = 0;
  while (ms < leastMs) {
    task();
    calls++;
    ms = now() - start;
  }
  return { calls, rounds: Math.min(rounds, Math.max(LEAST_ROUNDS, Math.floor(LONG / ms))) };
}

/** @param {() => unknown} task @param {number} calls @param {() => number} now */
function timeOf(task, calls, now) {
  const start = now();
  for (let i = 0; i < calls; i++) task();
  return (now() - start) / calls;
}
