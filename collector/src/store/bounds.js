/**
 * How large and how old what is stored may get. Only what every export has settled is pruned for want of room, so that nothing is
 * lost that was acknowledged; without exports the store is where traces stay, and only their age, if one was given, ends them.
 */

/** @typedef {{ bytes: number, ageMillis?: number, exports: string[] }} Limits `exports`: the names of those that are configured. */
/** Bodies that went, by why. @typedef {{ size: number, age: number }} Pruned */

/** How many bodies go at once, for their age and for want of room. */
const STEP = 256;
const FEW = 32;
/** What the write-ahead log may need on the disk to write and prune at all: see `MOST_PAGES`, of 8 KiB. */
const RESERVE_BYTES = 32 << 20;

export class Bounds {
  #tables;
  #limits;
  #available;
  /** Left by what was measured last. */
  #room = 0;
  /** Whether the disk holds less than is allowed. */
  #isDisk = false;

  /**
   * @param {import("./tables.js").Tables} tables
   * @param {Limits} limits
   * @param {() => number} available Bytes that the disk has left.
   */
  constructor(tables, limits, available) {
    this.#tables = tables;
    this.#limits = limits;
    this.#available = available;
  }

  /** To be called at the begin of a transaction. */
  measure() {
    const { used, file, owed } = this.#tables.bytes();
    // What is new to the file is in the log too.
    const onDisk = file + (this.#available() - RESERVE_BYTES) / 2;
    this.#isDisk = onDisk < this.#limits.bytes;
    this.#room = Math.min(this.#limits.bytes, onDisk) - used - owed;
  }

  /**
   * Makes room for a body, within a transaction.
   *
   * @param {Uint8Array} body
   * @param {{ length: number }} traces Packed.
   * @returns {{ isRoom: boolean, pruned: number }}
   */
  makeRoom(body, traces) {
    const needed = this.#tables.bytesOf(body.length, traces.length);
    let pruned = 0;
    if (this.#room < needed) this.measure();
    while (this.#room < needed) {
      const oldest = this.#limits.exports.length === 0 ? [] : this.#tables.prunable({ settled: this.#settled(), limit: FEW });
      if (oldest.length === 0) return { isRoom: false, pruned };
      for (const id of oldest) {
        if (this.#room >= needed) break;
        this.#tables.remove(id);
        pruned++;
        this.measure();
      }
    }
    this.#room -= needed;
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
    const what = this.#isDisk ? "the disk of the store is full" : `the store has the ${bytes} bytes of --store-size`;
    return `${what}; ${exports.length === 0 ? "give it more room, or let --store-age end what is old" : "exports have not taken what is there"}`;
  }
}
