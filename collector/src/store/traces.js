/** What is asked about traces, by their index and by what it does not have yet. */
import { unpacked } from "./packed-ids.js";
import { Recent } from "./recent.js";
import { bodiesIn, markOf } from "./trace-blocks.js";

/** @typedef {import("../types.js").StoredBody} StoredBody */

/** Of each segment that may have bodies after one, the last block that does not begin behind a trace, if it may be in there. */
const BLOCKS = `
  WITH found AS MATERIALIZED (
    SELECT (
      SELECT CASE WHEN instr(marks, @mark) THEN id END FROM blocks WHERE segment = last AND trace <= @trace ORDER BY trace DESC, body DESC LIMIT 1
    ) AS id FROM segments WHERE last > @after
  )
  SELECT segment, trace = @trace AS isFirst, entries FROM found CROSS JOIN blocks USING (id)`;
/** Of a segment that has a block which begins with the trace, all in which it may be. */
const ALL_BLOCKS = `
  SELECT entries FROM blocks WHERE segment = @segment AND trace = @trace
  UNION ALL
  SELECT * FROM (SELECT entries FROM blocks WHERE segment = @segment AND trace < @trace ORDER BY trace DESC, body DESC LIMIT 1)`;
/** So many traces that come again are remembered, with where. */
const MOST_KNOWN = 10_000;

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
      blocks: database.prepare(BLOCKS),
      allBlocks: database.prepare(ALL_BLOCKS).pluck(),
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
      /** The newest body of those that come again. @type {Map<string, number>} */
      const known = new Map();
      for (const { body, traces: ids } of /** @type {Iterable<{ body: number, traces: Buffer }>} */ (this.#sql.traced.iterate(after))) {
        for (const id of unpacked(ids)) {
          if ((known.get(id) ?? 0) > body) continue;
          const { newest, ...sums } = this.#sumsOf(id);
          if (newest === body) {
            known.delete(id);
            traces.push({ traceId: Buffer.from(id, "latin1").toString("hex"), ...sums, changed: body });
          } else if (known.size < MOST_KNOWN) known.set(id, newest);
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

  /** @param {string} trace @returns {{ bodies: number, bytes: number, newest: number }} */
  #sumsOf(trace) {
    const sums = { bodies: 0, bytes: 0, newest: 0 };
    for (const body of this.#after(Buffer.from(trace, "latin1"), 0)) {
      const bytes = this.#lengthOf(body);
      if (bytes === undefined) continue;
      sums.bodies++;
      sums.bytes += bytes;
      sums.newest = Math.max(sums.newest, body);
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
    const found = /** @type {{ segment: number, isFirst: number, entries: Buffer }[]} */ (this.#sql.blocks.all({ trace, after, mark: markOf(trace) }));
    const blocks = found.flatMap(({ segment, isFirst, entries }) => {
      return isFirst ? /** @type {Buffer[]} */ (this.#sql.allBlocks.all({ segment, trace })) : entries;
    });
    const bodies = [...blocks.flatMap((block) => bodiesIn(block, trace)), ...this.#recent.bodiesOf(trace.toString("latin1"))];
    return bodies.filter((body) => body > after);
  }

  /** What is asked together is answered as of one moment: an entry is never between its two places. @template T @param {() => T} ask @returns {T} */
  #reading(ask) {
    return this.#database.transaction(() => {
      this.#recent.refresh();
      return ask();
    })();
  }
}
