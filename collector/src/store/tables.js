/** What is asked of the tables, and written into them. Nothing here begins or ends a transaction. */
import { TraceIndex } from "./trace-index.js";

/** @typedef {import("../types.js").DeadLetter} DeadLetter */
/** @typedef {import("../types.js").StoredBody} StoredBody */
/** @typedef {{ id: number, export: string, body: number, attempts: number, status: number | null, reason: string }} DeadRow */

/** What the index takes of the file, at most, for one byte of ids beside bodies: its entries, in pages that may be half full. */
const INDEX_SHARE = 4;
const BODY = "id, type AS contentType, body, at, spans";

export class Tables {
  #database;
  #index;
  #pageSize;
  /** @type {Map<string, import("better-sqlite3").Statement<any[], any>>} */
  #statements = new Map();

  /** @param {import("better-sqlite3").Database} database */
  constructor(database) {
    this.#database = database;
    this.#index = new TraceIndex(database);
    this.#pageSize = /** @type {number} */ (database.pragma("page_size", { simple: true }));
  }

  /** @param {string} sql */
  #sql(sql) {
    const statement = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** @param {{ at: number, contentType: string, spans: number, body: Uint8Array, traces: Buffer }} given `traces`: packed. @returns {number} */
  add({ at, contentType, spans, body, traces }) {
    const before = this.#sql("SELECT through FROM bodies ORDER BY id DESC LIMIT 1").pluck().get() ?? 0;
    const insert = this.#sql("INSERT INTO bodies (at, type, spans, through, body) VALUES (?, ?, ?, ?, ?)");
    const { lastInsertRowid } = insert.run(at, contentType, spans, before + body.length, body);
    const id = Number(lastInsertRowid);
    this.#index.add(id, traces);
    return id;
  }

  /** Writes of the index of traces what is due for the bodies that were added. */
  index() {
    this.#index.advance();
  }

  /** A transaction begins. */
  begin() {
    this.#index.begin();
  }

  /** A transaction was rolled back. */
  undone() {
    this.#index.undone();
  }

  /** @param {number} position @param {number} bytes @returns {StoredBody[]} */
  after(position, bytes) {
    return this.#fitting(this.#sql("SELECT id, length(body) AS bytes FROM bodies WHERE id > ? ORDER BY id").iterate(position), bytes);
  }

  /** The first of these bodies, as many as fit, at least one. @param {Iterable<{ id: number, bytes: number }>} found @param {number} bytes */
  #fitting(found, bytes) {
    const ids = [];
    let sum = 0;
    for (const { id, bytes: own } of found) {
      sum += own;
      if (ids.length > 0 && sum > bytes) break;
      ids.push(id);
    }
    return ids.map((id) => this.body(id));
  }

  /** @param {number} id @returns {StoredBody} */
  body(id) {
    return this.#sql(`SELECT ${BODY} FROM bodies WHERE id = ?`).get(id);
  }

  /** The newest id that was ever given. @returns {number} */
  last() {
    return this.#sql("SELECT seq FROM sqlite_sequence WHERE name = 'bodies'").pluck().get() ?? 0;
  }

  /** The time of the newest body; 0: there is none. @returns {number} */
  newest() {
    return this.#sql("SELECT at FROM bodies ORDER BY id DESC LIMIT 1").pluck().get() ?? 0;
  }

  /** By the ids beside the bodies, which are far smaller. @returns {number} */
  count() {
    return this.#sql("SELECT count(*) FROM traced").pluck().get();
  }

  /**
   * Bytes of the file, which never gets smaller, and how many of them are in use; `owed`: what the index will take for bodies that are there.
   *
   * @returns {{ file: number, used: number, owed: number }}
   */
  bytes() {
    const pages = "pragma_page_count, pragma_freelist_count, pragma_page_size";
    const sql = `SELECT page_count * page_size AS file, (page_count - freelist_count) * page_size AS used FROM ${pages}`;
    return { ...this.#sql(sql).get(), owed: this.#index.owed * INDEX_SHARE };
  }

  /** The most bytes that a body may take in the file. @param {number} body @param {number} traces Bytes of their ids, packed. */
  bytesOf(body, traces) {
    const size = this.#pageSize;
    // Every page of a long body names the next; a short one may be alone in its page.
    return (Math.ceil(body / (size - 4)) + 1) * size + traces * (1 + INDEX_SHARE);
  }

  /** @param {string} name @returns {number} */
  position(name) {
    return this.#sql("SELECT position FROM exports WHERE name = ?").pluck().get(name) ?? 0;
  }

  /** What an export has not settled yet; `at`: when the oldest of it came. @param {string} name @returns {{ bodies: number, bytes: number, at?: number }} */
  behind(name) {
    const first = this.#sql("SELECT id, at, through - length(body) AS before FROM bodies WHERE id > ? ORDER BY id LIMIT 1").get(this.position(name));
    if (!first) return { bodies: 0, bytes: 0 };
    // What an export has not settled is not pruned, so that no id is missing.
    const last = this.#sql("SELECT id, through FROM bodies ORDER BY id DESC LIMIT 1").get();
    return { bodies: last.id - first.id + 1, bytes: last.through - first.before, at: first.at };
  }

  /** @returns {Record<string, number>} */
  positions() {
    return Object.fromEntries(this.#sql("SELECT name, position FROM exports").all().map(({ name, position }) => [name, position]));
  }

  /** @param {string} name @param {number} position @param {DeadLetter[]} dead @param {number} at */
  settle(name, position, dead, at) {
    const set = this.#sql("INSERT INTO exports (name, position) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET position = excluded.position");
    set.run(name, position);
    const bury = this.#sql(`
      INSERT INTO dead (export, body, at, attempts, status, reason) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (export, body) DO UPDATE SET at = excluded.at, attempts = excluded.attempts, status = excluded.status, reason = excluded.reason, due = 0`);
    for (const { body, attempts, status = null, reason } of dead) bury.run(name, body, at, attempts, status, reason);
  }

  /** @returns {Record<string, number>} */
  deadCounts() {
    return Object.fromEntries(this.#sql("SELECT export, count(*) AS dead FROM dead GROUP BY export").all().map(({ export: name, dead }) => [name, dead]));
  }

  /** @param {string} name @param {number} limit */
  due(name, limit) {
    /** @type {DeadRow[]} */
    const rows = this.#sql("SELECT id, export, body, attempts, status, reason FROM dead WHERE export = ? AND due = 1 ORDER BY id LIMIT ?").all(name, limit);
    return rows.map(({ status, ...row }) => ({ ...row, ...(status !== null && { status }), stored: this.body(row.body) }));
  }

  /** @param {number} id @param {DeadLetter | undefined} dead @param {number} at */
  resolve(id, dead, at) {
    if (!dead) return void this.#sql("DELETE FROM dead WHERE id = ?").run(id);
    const { attempts, status = null, reason } = dead;
    this.#sql("UPDATE dead SET at = ?, attempts = ?, status = ?, reason = ?, due = 0 WHERE id = ?").run(at, attempts, status, reason, id);
  }

  /**
   * The oldest bodies that may go: settled, and no dead letter.
   *
   * @param {{ settled: number, before?: number, limit: number }} which `settled`: the last id that is; `before`: only older ones than that time.
   * @returns {number[]}
   */
  prunable({ settled, before = Infinity, limit }) {
    const oldest = this.#sql("SELECT id, at FROM bodies WHERE id <= ? AND NOT EXISTS (SELECT 1 FROM dead WHERE dead.body = bodies.id) ORDER BY id LIMIT ?");
    const ids = [];
    for (const { id, at } of oldest.iterate(settled, limit)) {
      // Times never go back, so that none after it is older.
      if (at >= before) break;
      ids.push(id);
    }
    return ids;
  }

  /** @param {number} id */
  remove(id) {
    this.#index.remove(id);
    this.#sql("DELETE FROM bodies WHERE id = ?").run(id);
  }
}
