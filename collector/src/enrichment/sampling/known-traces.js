/**
 * Whether traces are in, remembered for those whose bodies do not tell their sample: a table in memory that all threads share. It has
 * room for 16,384, of which the oldest make room. Two threads that write at once may lose an entry, never mix two.
 */
import { createHash } from "node:crypto";

const SETS = 2048;
const WAYS = 8;

/** @returns {SharedArrayBuffer} An empty table. */
export function emptyTable() {
  return new SharedArrayBuffer(SETS * WAYS * BigUint64Array.BYTES_PER_ELEMENT);
}

export class KnownTraces {
  #entries;

  /** @param {SharedArrayBuffer} table */
  constructor(table) {
    this.#entries = new BigUint64Array(table);
  }

  /** Whether the trace is in; undefined if it is not known. @param {string} id @returns {boolean | undefined} */
  get(id) {
    const { first, entry } = placeOf(id);
    for (let at = first; at < first + WAYS; at++) {
      const found = Atomics.load(this.#entries, at);
      if (found >> 1n === entry >> 1n) return (found & 1n) === 1n;
    }
    return undefined;
  }

  /** @param {string} id @param {boolean} isIn */
  set(id, isIn) {
    if (this.get(id) === isIn) return;
    const { first, entry } = placeOf(id);
    for (let at = first + WAYS - 1; at > first; at--) Atomics.store(this.#entries, at, Atomics.load(this.#entries, at - 1));
    Atomics.store(this.#entries, first, entry | (isIn ? 1n : 0n));
  }
}

/** Its places in the table, and its entry: 63 bits of a digest, and one for the answer. No entry is 0. @param {string} id */
function placeOf(id) {
  const digest = createHash("sha256").update(id).digest();
  return { first: (digest.readUInt32LE(8) % SETS) * WAYS, entry: (digest.readBigUInt64LE(0) | 2n) & ~1n };
}
