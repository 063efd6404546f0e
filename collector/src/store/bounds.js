/**
 * How large and how old what is stored may get. Only what every export has settled is pruned for its size, so that nothing is
 * lost that was acknowledged; without exports the store is where traces stay, and only their age, if one was given, ends them.
 */

/** @typedef {{ bytes: number, ageMillis?: number, exports: string[] }} Limits `exports`: the names of those that are configured. */
/** Bodies that went, by why. @typedef {{ size: number, age: number }} Pruned */

/** How many bodies go at once. */
const STEP = 256;
/** What rows take beside their bodies. */
const ROW_BYTES = 256;

export class Bounds {
  #tables;
  #limits;

  /** @param {import("./tables.js").Tables} tables @param {Limits} limits */
  constructor(tables, limits) {
    this.#tables = tables;
    this.#limits = limits;
  }

  /**
   * Makes room for a body, within a transaction.
   *
   * @param {Uint8Array} body
   * @param {unknown[]} traces
   * @returns {{ isRoom: boolean, pruned: number }}
   */
  makeRoom(body, traces) {
    const { bytes, exports } = this.#limits;
    const needed = body.length + ROW_BYTES * (1 + traces.length);
    let pruned = 0;
    while (this.#tables.bytes() + needed > bytes) {
      const ids = exports.length === 0 ? [] : this.#tables.prunable({ settled: this.#settled(), limit: STEP });
      if (ids.length === 0) return { isRoom: false, pruned };
      for (const id of ids) {
        if (this.#tables.bytes() + needed <= bytes) break;
        this.#tables.remove(id);
        pruned++;
      }
    }
    return { isRoom: true, pruned };
  }

  /**
   * Prunes what is too old, within a transaction: not all at once, if it is much.
   *
   * @param {number} now
   * @returns {number} How many bodies.
   */
  pruneOld(now) {
    const { ageMillis, exports } = this.#limits;
    if (ageMillis === undefined) return 0;
    const settled = exports.length === 0 ? this.#tables.last() : this.#settled();
    const ids = this.#tables.prunable({ settled, before: now - ageMillis, limit: STEP });
    for (const id of ids) this.#tables.remove(id);
    return ids.length;
  }

  /** The last body that every export has settled. */
  #settled() {
    return Math.min(...this.#limits.exports.map((name) => this.#tables.position(name)));
  }

  /** Why there is no room, and what helps. */
  get fullInWords() {
    const { bytes, exports } = this.#limits;
    const cure = exports.length === 0 ? "raise it, or let --store-age end what is old" : "exports have not taken what is there";
    return `the store has the ${bytes} bytes of --store-size; ${cure}`;
  }
}
