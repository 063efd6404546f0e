/**
 * The index of traces, as it is written. Ids of traces are random, and an entry written with its body would change a page of its own.
 * So a body is stored with the ids of its traces beside it, and entries are written later, those of many bodies sorted: a segment,
 * whose pages are filled one after the other. Each transaction writes as much of a segment as it owes for the bodies that it adds, and
 * readers take a segment for written when it is whole.
 */
import { HEAD, unpacked } from "./packed-ids.js";
import { blockOf, endOfBlock, entriesOf, marksOf } from "./trace-blocks.js";

/** @typedef {import("./trace-blocks.js").Entry} Entry */
/** A segment that is written; `last`: the last of its bodies. @typedef {{ last: number, entries: Entry[], written: number }} Segment */

/** Of ids, as they stand beside bodies, in one segment: some 26,000 of usual length. Sorting them takes 20 ms. */
export const SEGMENT_BYTES = 512 << 10;
/** Twice as much is written as is added, so that a segment is whole long before the next one is due. */
const PACE = 2;

export class TraceIndex {
  #sql;
  /** The last body of the last whole segment. */
  #last = 0;
  #owed = 0;
  #due = 0;
  /** @type {Segment | undefined} */
  #segment;
  /** Whether what is known here may not be what the file has. */
  #isStale = true;

  /** @param {import("better-sqlite3").Database} database */
  constructor(database) {
    this.#sql = {
      add: database.prepare("INSERT INTO traced (body, traces) VALUES (?, ?)"),
      lengthOf: database.prepare("SELECT length(traces) FROM traced WHERE body = ?").pluck(),
      remove: database.prepare("DELETE FROM traced WHERE body = ?"),
      last: database.prepare("SELECT coalesce(max(last), 0) FROM segments").pluck(),
      owed: database.prepare("SELECT coalesce(sum(length(traces)), 0) FROM traced WHERE body > ?").pluck(),
      begun: database.prepare("SELECT segment, entries FROM blocks ORDER BY segment DESC, trace DESC, body DESC LIMIT 1"),
      waiting: database.prepare("SELECT body, traces FROM traced WHERE body > ? ORDER BY body"),
      write: database.prepare("INSERT INTO blocks (segment, trace, body, marks, entries) VALUES (?, ?, ?, ?, ?)"),
      whole: database.prepare("INSERT INTO segments (last) VALUES (?)"),
      holder: database.prepare("SELECT min(last) FROM segments WHERE last >= ?").pluck(),
      isUsed: database.prepare(`
        SELECT EXISTS (SELECT 1 FROM traced WHERE body <= @last AND body > (SELECT coalesce(max(last), 0) FROM segments WHERE last < @last))`).pluck(),
      dropEntries: database.prepare("DELETE FROM blocks WHERE segment = ?"),
      drop: database.prepare("DELETE FROM segments WHERE last = ?"),
    };
    this.begin();
  }

  /** A transaction begins. */
  begin() {
    this.#due = 0;
    if (!this.#isStale) return;
    this.#last = /** @type {number} */ (this.#sql.last.get());
    this.#owed = /** @type {number} */ (this.#sql.owed.get(this.#last));
    this.#segment = undefined;
    this.#isStale = false;
  }

  /** A transaction was rolled back: the next one begins with what the file has. */
  undone() {
    this.#isStale = true;
  }

  /** Bytes of ids that stand beside bodies and not in the index yet. */
  get owed() {
    return this.#owed;
  }

  /** @param {number} body @param {Buffer} traces Packed. */
  add(body, traces) {
    this.#sql.add.run(body, traces);
    this.#owed += traces.length;
    this.#due += traces.length * PACE;
  }

  /** A segment goes with the last of its bodies. @param {number} body */
  remove(body) {
    if (body > this.#last) this.#owed -= /** @type {number} */ (this.#sql.lengthOf.get(body) ?? 0);
    this.#sql.remove.run(body);
    if (body <= this.#last) this.#dropUnused(/** @type {number | null} */ (this.#sql.holder.get(body)));
  }

  /** @param {number | null} last Of a segment. */
  #dropUnused(last) {
    if (last === null || this.#sql.isUsed.get({ last })) return;
    this.#sql.dropEntries.run(last);
    this.#sql.drop.run(last);
  }

  /** Writes what is owed for what was added since the last time. */
  advance() {
    while (this.#due > 0) {
      this.#segment ??= this.#begun() ?? this.#next();
      if (!this.#segment) break;
      this.#write(this.#segment);
    }
    this.#due = 0;
  }

  /** @param {Segment} segment */
  #write(segment) {
    const { last, entries } = segment;
    while (this.#due > 0 && segment.written < entries.length) {
      const some = entries.slice(segment.written, endOfBlock(entries, segment.written));
      const [{ trace, body }] = some;
      this.#sql.write.run(last, Buffer.from(trace, "latin1"), body, marksOf(some), blockOf(some));
      this.#due = some.reduce((due, { trace }) => due - HEAD - trace.length, this.#due);
      segment.written += some.length;
    }
    if (segment.written < entries.length) return;
    this.#sql.whole.run(last);
    this.#dropUnused(last);
    this.#last = last;
    this.#owed = /** @type {number} */ (this.#sql.owed.get(last));
    this.#segment = undefined;
  }

  /** The segment of which a part is in the file: what follows its last entry is to be written. @returns {Segment | undefined} */
  #begun() {
    const begun = /** @type {{ segment: number, entries: Buffer } | undefined} */ (this.#sql.begun.get());
    if (!begun || begun.segment <= this.#last) return undefined;
    const [{ trace, body }] = [...entriesOf(begun.entries)].slice(-1);
    const isLeft = (/** @type {Entry} */ entry) => entry.trace > trace || (entry.trace === trace && entry.body > body);
    const { entries } = this.#collected(({ body }) => body > begun.segment);
    return { last: begun.segment, entries: entries.filter(isLeft), written: 0 };
  }

  /** @returns {Segment | undefined} If there is enough for one. */
  #next() {
    if (this.#owed < SEGMENT_BYTES) return undefined;
    const { last, entries } = this.#collected(({ bytes }) => bytes >= SEGMENT_BYTES);
    return { last, entries, written: 0 };
  }

  /** @param {(at: { body: number, bytes: number }) => boolean} isEnough Before a body, with the bytes of those before it. */
  #collected(isEnough) {
    /** @type {Entry[]} */
    const entries = [];
    let last = this.#last;
    let bytes = 0;
    for (const { body, traces } of /** @type {Iterable<{ body: number, traces: Buffer }>} */ (this.#sql.waiting.iterate(this.#last))) {
      if (isEnough({ body, bytes })) break;
      for (const trace of unpacked(traces)) entries.push({ trace, body });
      bytes += traces.length;
      last = body;
    }
    // Bodies stay in their order.
    entries.sort((a, b) => (a.trace < b.trace ? -1 : Number(a.trace > b.trace)));
    return { last, entries };
  }
}
