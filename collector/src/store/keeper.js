/** What keeps a store, in whatever thread: its file, its lock, its clock, and what is written into it together. */
import { statfsSync } from "node:fs";
import { Refusal } from "../receive/refusal.js";
import { Bounds } from "./bounds.js";
import { answerTo, readingAnswerTo, refusedBySqlite } from "./calls.js";
import { createClock } from "./clock.js";
import { contentsOf } from "./contents.js";
import { lock } from "./lock.js";
import { closed, openKept } from "./open.js";
import { packed } from "./packed-ids.js";
import { Tables } from "./tables.js";
import { checkpoint } from "./write-ahead-log.js";

/** @typedef {import("./bounds.js").Limits & { file: string }} Options */
/** @typedef {import("./calls.js").Answer} Answer */
/** `method`: one of Store's. @typedef {import("./calls.js").Call} Call */
/** A transaction that is written; `added`: bodies. @typedef {{ answers: Answer[], added: number, pruned: import("./bounds.js").Pruned }} Written */

const UNAVAILABLE = 503;

export class Keeper {
  #free;
  #database;
  #tables;
  #bounds;
  #now;
  #bodies;
  #exports;
  #transact;

  /**
   * @param {Options} options
   * @param {Parameters<typeof createClock>[1]} [clocks]
   * @throws {import("./store-error.js").StoreError}
   */
  constructor({ file, ...limits }, clocks) {
    this.#free = lock(file);
    /** @type {import("better-sqlite3").Database | undefined} */
    let database;
    try {
      database = openKept(file);
      this.#database = database;
      this.#tables = new Tables(database);
      this.#now = createClock(this.#tables.newest(), clocks);
      this.#bodies = this.#tables.count();
    } catch (error) {
      const why = closed(file, database, error);
      this.#free();
      throw why;
    }
    this.#bounds = new Bounds(this.#tables, limits, () => {
      const { bavail, bsize } = statfsSync(file);
      return bavail * bsize;
    });
    this.#exports = limits.exports;
    this.#transact = this.#database.transaction((/** @type {Call[]} */ calls) => this.#writeAll(calls));
  }

  /**
   * Writes all in one transaction: with its answers, all is on the disk.
   *
   * @param {Call[]} calls Of `add`, `settle`, `resolve` and `pruneOld`.
   * @returns {Written}
   */
  write(calls) {
    try {
      const written = this.#transact.immediate(calls);
      this.#bodies += written.added - written.pruned.size - written.pruned.age;
      return written;
    } catch (error) {
      this.#tables.undone();
      const refused = refusedBySqlite(error, "written");
      return { answers: calls.map(({ id }) => ({ id, refused })), added: 0, pruned: { size: 0, age: 0 } };
    }
  }

  /** @param {Call[]} calls @returns {Written} */
  #writeAll(calls) {
    const now = this.#now();
    this.#tables.begin();
    this.#bounds.measure();
    /** @type {Written} */
    const written = { answers: [], added: 0, pruned: { size: 0, age: 0 } };
    /** @type {Record<string, (...args: any[]) => unknown>} */
    const WRITES = {
      add: (body, contentType) => this.#add(written, now, body, contentType),
      settle: (name, position, dead) => this.#tables.settle(name, position, dead, now),
      resolve: (id, dead) => this.#tables.resolve(id, dead, now),
      pruneOld: () => {
        written.pruned.age += this.#bounds.pruneOld(now);
      },
    };
    for (const call of calls) written.answers.push(answerTo(call, WRITES));
    this.#tables.index();
    return written;
  }

  /** @param {Written} written @param {number} now @param {Uint8Array} given @param {string} contentType @returns {number} */
  #add(written, now, given, contentType) {
    const body = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
    const { spans, traces: ids } = contentsOf(body, contentType);
    if (spans === 0) return 0;
    const traces = packed(ids);
    const { isRoom, pruned } = this.#bounds.makeRoom(body, traces);
    written.pruned.size += pruned;
    if (!isRoom) throw new Refusal(UNAVAILABLE, this.#bounds.fullInWords);
    written.added++;
    return this.#tables.add({ at: now, contentType, spans, body, traces });
  }

  /** @param {Call} call @returns {Answer} */
  read(call) {
    const tables = this.#tables;
    return readingAnswerTo(call, {
      after: (position, bytes) => tables.after(position, bytes),
      position: (name) => tables.position(name),
      due: (name, limit) => tables.due(name, limit),
      facts: () => this.#facts(),
    });
  }

  /** @returns {import("../types.js").StoreFacts} */
  #facts() {
    const tables = this.#tables;
    const now = this.#now();
    const behind = this.#exports.map((name) => {
      const { at = now, ...much } = tables.behind(name);
      return [name, { ...much, seconds: (now - at) / 1000 }];
    });
    const counts = { bytes: tables.bytes().used, bodies: this.#bodies, last: tables.last() };
    return { ...counts, dead: tables.deadCounts(), positions: tables.positions(), behind: Object.fromEntries(behind) };
  }

  /** Copies what is left of the log, so that it begins anew. */
  checkpoint() {
    checkpoint(this.#database);
  }

  close() {
    this.#database.close();
    this.#free();
  }
}
