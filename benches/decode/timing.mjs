/**
 * Tasks timed in turn, each as often as a round needs to be long enough for the clock; in Node and in browsers.
 *
 * A clock tells milliseconds. In Node it is the processor time of the process with all its threads, unless `--wall` is asked for:
 * on a machine that others use too, the time on the wall is mostly theirs.
 */

/**
 * Milliseconds of one call: the median of the rounds, and half the distance of their quartiles over it.
 *
 * @typedef {{ ms: number, spread: number }} Timed
 */

/** @param {number[]} numbers @returns {Timed} */
export function summary(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const at = (/** @type {number} */ part) => sorted[Math.floor((sorted.length - 1) * part)];
  const ms = at(0.5);
  return { ms, spread: (at(0.75) - at(0.25)) / 2 / ms };
}

/**
 * The tasks take turns, so that what slows a machine for a while slows all of them; in another order each round, so that nobody
 * always pays for the garbage of the same one. A round before the others says how often each is called in them.
 *
 * @param {Record<string, () => unknown>} tasks
 * @param {{ rounds: number, leastMs: number, now: () => number }} options
 * @returns {Record<string, Timed>}
 */
export function race(tasks, { rounds, leastMs, now }) {
  const contestants = Object.entries(tasks).map(([name, task]) => {
    return { name, task, calls: callsFor(task, leastMs, now), times: /** @type {number[]} */ ([]) };
  });
  const random = generator();
  for (let round = 0; round < rounds; round++) {
    for (const { task, calls, times } of shuffled(contestants, random)) times.push(timeOf(task, calls, now));
  }
  return Object.fromEntries(contestants.map(({ name, times }) => [name, summary(times)]));
}

/** @param {() => unknown} task @param {number} leastMs @param {() => number} now */
function callsFor(task, leastMs, now) {
  const start = now();
  let calls = 0;
  do {
    task();
    calls++;
  } while (now() - start < leastMs);
  return calls;
}

/** @param {() => unknown} task @param {number} calls @param {() => number} now */
function timeOf(task, calls, now) {
  const start = now();
  for (let i = 0; i < calls; i++) task();
  return (now() - start) / calls;
}

/** By Fisher and Yates. @template T @param {T[]} items @param {() => number} random @returns {T[]} */
function shuffled(items, random) {
  const out = [...items];
  for (let i = out.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [out[i], out[j]] = [out[j], out[i]];
  }
  return out;
}

/** The same numbers in [0, 1) for each race. */
function generator() {
  let state = 1;
  return () => (state = (state * 48271) % 0x7fffffff) / 0x7fffffff;
}
