/** What is asked about traces, by their index and by what it does not have yet. */
import { unpacked } from "./packed-ids.js";
import { Recent } from "./recent.js";

/** @typedef {import("../types.js").StoredBody} StoredBody */

/** Entries of one trace, by a seek in each segment that may have bodies after one. */
const ENTRIES = "segments CROSS JOIN traces ON traces.segment = segments.last AND traces.trace = @trace AND traces.body > @after";
const SINCE = "WHERE segments.last > @after";

export class Traces {
  #database;
  #recent;
  #sql;

  /** @param {import("better-sqlite3").Database} database */
  constructor(database) {
    this.#database = database;
    this.#recent = new Recent(database);
    this.#sql = {
      last: database.prepare("SELECT seq FROM sqlite_sequence WHERE name = 'bodies'").pluck(),
      length: database.prepare("SELECT length(body) FROM bodies WHERE id = ?").pluck(),
      body: database.prepare("SELECT id, type AS contentType, body, at, spans FROM bodies WHERE id = ?"),
      traced: database.prepare("SELECT body, traces FROM traced WHERE body > ? ORDER BY body"),
      bodies: database.prepare(`SELECT traces.body FROM ${ENTRIES} ${SINCE}`).pluck(),
      isLater: database.prepare(`SELECT 1 FROM ${ENTRIES} CROSS JOIN bodies ON bodies.id = traces.body ${SINCE} LIMIT 1`).pluck(),
      sums: database.prepare(`
        SELECT count(*) AS bodies, coalesce(sum(length(bodies.body)), 0) AS bytes FROM ${ENTRIES} CROSS JOIN bodies ON bodies.id = traces.body ${SINCE}`),
    };
  }

  /**
   * Traces by their newest body. Those that one body changed are not taken apart, so that a position is that of a whole body.
   *
   * @param {number} position
   * @param {number} limit
   */
  changed(position, limit) {
    return this.#reading(() => {
      const after = position > this.#last() ? 0 : position;
      const traces = [];
      for (const { body, traces: ids } of /** @type {Iterable<{ body: number, traces: Buffer }>} */ (this.#sql.traced.iterate(after))) {
        for (const id of unpacked(ids).filter((trace) => this.#isNewest(trace, body))) {
          traces.push({ traceId: Buffer.from(id, "latin1").toString("hex"), ...this.#sumsOf(id), changed: body });
        }
        if (traces.length >= limit) break;
      }
      return { traces, next: traces[traces.length - 1]?.changed ?? after };
    });
  }

  /** The newest id that was ever given. */
  #last() {
    return /** @type {number} */ (this.#sql.last.get() ?? 0);
  }

  /** Whether a trace has no body after this one. @param {string} trace @param {number} body */
  #isNewest(trace, body) {
    const newest = this.#recent.bodiesOf(trace).findLast((other) => other <= body || this.#lengthOf(other) !== undefined) ?? 0;
    if (newest > body) return false;
    return this.#sql.isLater.get({ trace: Buffer.from(trace, "latin1"), after: body }) === undefined;
  }

  /** @param {string} trace @returns {{ bodies: number, bytes: number }} */
  #sumsOf(trace) {
    const sums = /** @type {{ bodies: number, bytes: number }} */ (this.#sql.sums.get({ trace: Buffer.from(trace, "latin1"), after: 0 }));
    for (const body of this.#recent.bodiesOf(trace)) {
      const bytes = this.#lengthOf(body);
      if (bytes === undefined) continue;
      sums.bodies++;
      sums.bytes += bytes;
    }
    return sums;
  }

  /** Bytes of a body, if it is there. @param {number} id @returns {number | undefined} */
  #lengthOf(id) {
    return /** @type {number | undefined} */ (this.#sql.length.get(id));
  }

  /**
   * Bodies of these traces after a position, in order, as many as fit, at least one.
   *
   * @param {Uint8Array[]} traces
   * @param {number} position
   * @param {number} bytes
   * @returns {StoredBody[]}
   */
  bodiesOf(traces, position, bytes) {
    return this.#reading(() => {
      const ids = new Set(traces.flatMap((trace) => this.#after(Buffer.from(trace), position)));
      const found = [];
      let sum = 0;
      for (const id of [...ids].sort((a, b) => a - b)) {
        const own = this.#lengthOf(id);
        if (own === undefined) continue;
        sum += own;
        if (found.length > 0 && sum > bytes) break;
        found.push(/** @type {StoredBody} */ (this.#sql.body.get(id)));
      }
      return found;
    });
  }

  /** @param {Buffer} trace @param {number} after @returns {number[]} */
  #after(trace, after) {
    const recent = this.#recent.bodiesOf(trace.toString("latin1")).filter((body) => body > after);
    return [.../** @type {number[]} */ (this.#sql.bodies.all({ trace, after })), ...recent];
  }

  /** What is asked together is answered as of one moment: an entry is never between its two places. @template T @param {() => T} ask @returns {T} */
  #reading(ask) {
    return this.#database.transaction(() => {
      this.#recent.refresh();
      return ask();
    })();
  }
}
