/** Which samples are traced where not all are: verl's `max_samples_per_step_per_worker`. */

/** Steps whose samples are known at one time; trainers that are asynchronous have more than one. */
const MAX_STEPS = 16;

/**
 * verl's own rule, for a worker that knows its batch: of the different samples in it so many are chosen at random, and all rows of these
 * are traced; all rows are if there are no more samples than that.
 *
 * @param {readonly unknown[]} sampleIndices The sample of each row of the batch.
 * @param {number | undefined} max Default: all.
 * @returns {boolean[]} For each row whether it is traced.
 */
export function choose(sampleIndices, max) {
  const samples = [...new Set(sampleIndices)];
  if (max === undefined || max >= samples.length) return sampleIndices.map(() => true);
  for (let i = 0; i < max; i++) {
    const other = i + Math.floor(Math.random() * (samples.length - i));
    [samples[i], samples[other]] = [samples[other], samples[i]];
  }
  const chosen = new Set(samples.slice(0, max));
  return sampleIndices.map((index) => chosen.has(index));
}

/** For calls that come one by one: the first different samples of each step, with all of their rollouts. */
export class SampleLimit {
  #max;
  /** By step, the newest last. @type {Map<string, Set<unknown>>} */
  #steps = new Map();

  /** @param {number} [max] Default: no limit. */
  constructor(max = Infinity) {
    this.#max = max;
  }

  /** @param {{ step?: unknown, validate?: boolean, sampleIndex?: unknown }} attributes A trajectory without a sample is one of its own. */
  allows({ step, validate = false, sampleIndex }) {
    if (this.#max === Infinity) return true;
    const samples = this.#samplesOf(`${String(step)} ${validate}`);
    const sample = sampleIndex ?? Symbol("of its own");
    if (samples.has(sample)) return true;
    if (samples.size >= this.#max) return false;
    samples.add(sample);
    return true;
  }

  /** @param {string} step */
  #samplesOf(step) {
    const samples = this.#steps.get(step) ?? new Set();
    this.#steps.set(step, samples);
    for (const oldest of this.#steps.keys()) {
      if (this.#steps.size <= MAX_STEPS) break;
      this.#steps.delete(oldest);
    }
    return samples;
  }
}
