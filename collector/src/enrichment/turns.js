/** Lets a number of callers in at a time; the others wait in the order in which they came. */
export class Turns {
  #free;
  /** @type {Set<() => void>} */
  #waiting = new Set();

  /** @param {number} count */
  constructor(count) {
    this.#free = count;
  }

  /**
   * Waits for a turn, which `end` gives back.
   *
   * @param {AbortSignal} signal Who is told so leaves the queue; the promise is then rejected with the signal's reason.
   * @returns {Promise<void>}
   */
  async take(signal) {
    if (this.#free > 0) return void this.#free--;
    await new Promise((/** @type {(value: void) => void} */ resolve, reject) => {
      const begin = () => resolve();
      this.#waiting.add(begin);
      signal.addEventListener("abort", () => this.#waiting.delete(begin) && reject(signal.reason), { once: true });
    });
  }

  /** Ends a turn: it goes to the one that has waited longest. */
  end() {
    const [next] = this.#waiting;
    if (!next) return void this.#free++;
    this.#waiting.delete(next);
    next();
  }
}
