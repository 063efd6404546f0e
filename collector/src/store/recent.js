/** Traces of bodies that no segment of the index has yet, in memory, as a reader finds them beside the bodies. */
import { unpacked } from "./packed-ids.js";
import { SEGMENT_BYTES } from "./trace-index.js";

/** Of ids, that may be in memory: when that much was read, what was pruned since is forgotten. */
const MOST_BYTES = 4 * SEGMENT_BYTES;

export class Recent {
  #last;
  #after;
  /** Where reading began, and how far it is. */
  #from = 0;
  #seen = 0;
  #bytes = 0;
  /** Bodies in their order, by the id in latin1. @type {Map<string, number[]>} */
  #bodies = new Map();

  /** @param {import("better-sqlite3").Database} database */
  constructor(database) {
    this.#last = database.prepare("SELECT coalesce(max(last), 0) FROM segments").pluck();
    this.#after = database.prepare("SELECT body, traces FROM traced WHERE body > ? ORDER BY body");
  }

  /** Reads what is new, within the transaction of those who ask then. */
  refresh() {
    const from = /** @type {number} */ (this.#last.get());
    if (from !== this.#from || this.#bytes > MOST_BYTES) {
      this.#bodies.clear();
      this.#from = this.#seen = from;
      this.#bytes = 0;
    }
    for (const { body, traces } of /** @type {Iterable<{ body: number, traces: Buffer }>} */ (this.#after.iterate(this.#seen))) {
      for (const trace of unpacked(traces)) {
        const bodies = this.#bodies.get(trace);
        if (bodies) bodies.push(body);
        else this.#bodies.set(trace, [body]);
      }
      this.#seen = body;
      this.#bytes += traces.length;
    }
  }

  /** Some may have been pruned. @param {string} trace @returns {readonly number[]} */
  bodiesOf(trace) {
    return this.#bodies.get(trace) ?? [];
  }
}
