/** How long to wait before a backend is asked again: twice as long each time, and never all at one moment. */

/** The first wait, and the longest of our own, in milliseconds. @typedef {{ firstMillis: number, mostMillis: number }} Scale */

/** @type {Scale} */
export const SCALE = { firstMillis: 1000, mostMillis: 60_000 };
/** The longest that a backend may ask for: an hour. */
const MOST_ASKED_MILLIS = 3_600_000;

export class Backoff {
  #scale;
  #random;
  #times = 0;

  /** @param {Scale} [scale] @param {() => number} [random] From 0 up to 1. */
  constructor(scale = SCALE, random = Math.random) {
    this.#scale = scale;
    this.#random = random;
  }

  /**
   * The next wait, in milliseconds: half of it by chance, so that collectors that lost a backend together do not come back together.
   *
   * @param {number} [askedMillis] What the backend asks for at least (`Retry-After`).
   * @example
   *   const backoff = new Backoff();
   *   backoff.next(); // 500 to 1,000
   *   backoff.next(5000); // 5,000 to 6,000: no less than was asked for
   */
  next(askedMillis = 0) {
    const { firstMillis, mostMillis } = this.#scale;
    const most = Math.min(mostMillis, firstMillis * 2 ** this.#times++);
    const chance = (most / 2) * this.#random();
    const asked = Math.min(askedMillis, MOST_ASKED_MILLIS);
    return Math.max(most / 2 + chance, asked + Math.min(chance, firstMillis));
  }

  /** After a success. */
  reset() {
    this.#times = 0;
  }
}
