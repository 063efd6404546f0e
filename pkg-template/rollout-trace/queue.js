/** Records that wait for the backend: bounded, sent in batches and in order, off the path of whoever is traced. */
import { messageOf } from "../errors.js";

/** @typedef {import("./call.js").Record} Record */
/**
 * Every call that ended, or was given up, is recorded, and then waits, is sent, dropped (no room for it) or has failed (the backend did
 * not take it).
 *
 * @typedef {object} TraceStats
 * @property {number} open Calls that have not ended.
 * @property {number} recorded
 * @property {number} waiting
 * @property {number} sent
 * @property {number} dropped
 * @property {number} failed
 * @property {number} undecoded Fields of ids that got no text.
 * @property {string} [lastReason] Why the last one was dropped, has failed or got no text.
 */
/** What became of a batch: how many records the backend has, and why it has not the others. @typedef {{ sent: number, reason?: string }} Delivery */
/**
 * @template Prepared
 * @typedef {object} QueueOptions
 * @property {number} maxRecords
 * @property {number} maxBytes
 * @property {(record: Record) => Promise<{ prepared: Prepared, undecoded?: { count: number, reason: string } }>} prepare
 * @property {(batch: Prepared[]) => Promise<Delivery>} send
 */

/** As Trackio's client waits. */
const SEND_AFTER_MILLIS = 500;
/** As many spans as MLflow's server takes well in one request (its cost is per request), and as many bytes. */
const MAX_BATCH_RECORDS = 100;
const MAX_BATCH_BYTES = 4_000_000;
/** A timer that does nothing but keep the process alive. */
const HOLD_MILLIS = 1 << 30;
const ENDED = "tracing had ended";

/** @template [Prepared=any] */
export class Queue {
  #options;
  /** @type {Record[]} */
  #waiting = [];
  #waitingBytes = 0;
  #counts = { recorded: 0, sent: 0, dropped: 0, failed: 0, undecoded: 0 };
  /** @type {string | undefined} */
  #lastReason;
  /** Records that were let in, and those that have left. */
  #entered = 0;
  #left = 0;
  /** @type {{ until: number, resolve: () => void }[]} */
  #flushes = [];
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** What the timer waits for, in milliseconds. */
  #due = Infinity;
  #isSending = false;
  #isClosed = false;

  /** @param {QueueOptions<Prepared>} options */
  constructor(options) {
    this.#options = options;
  }

  /** @param {number} records @param {number} bytes */
  hasRoomFor(records, bytes) {
    return records <= this.#options.maxRecords && bytes <= this.#options.maxBytes;
  }

  /** Takes a record in. If there is no room for it, it is dropped, as MLflow's client does, and those before it stay. @param {Record} record */
  push(record) {
    if (this.#isClosed) return this.drop(ENDED);
    if (!this.hasRoomFor(this.#waiting.length + 1, this.#waitingBytes + record.bytes)) return this.drop("the queue was full");
    this.#counts.recorded++;
    this.#entered++;
    this.#waiting.push(record);
    this.#waitingBytes += record.bytes;
    this.#sendAfter(this.#waiting.length < MAX_BATCH_RECORDS ? SEND_AFTER_MILLIS : 0);
  }

  /** Counts one that cannot be kept. @param {string} reason */
  drop(reason) {
    this.#counts.recorded++;
    this.#counts.dropped++;
    this.#lastReason = reason;
  }

  /** Takes nothing in and begins no request any more, so that the process may end. */
  close() {
    this.#isClosed = true;
    if (!this.#isSending) this.#dropWaiting();
  }

  /** @returns {Omit<TraceStats, "open">} */
  stats() {
    const { recorded, ...rest } = this.#counts;
    const reason = this.#lastReason === undefined ? {} : { lastReason: this.#lastReason };
    return { recorded, waiting: this.#waiting.length, ...rest, ...reason };
  }

  /**
   * Waits until all that is there now has left. The process is kept alive meanwhile.
   *
   * @param {number} timeoutMillis
   * @returns {Promise<void>}
   */
  async flush(timeoutMillis) {
    const until = this.#entered;
    if (this.#left >= until) return;
    const hold = setInterval(() => {}, HOLD_MILLIS);
    const flush = { until, resolve: () => {} };
    /** @type {Promise<void>} */
    const done = new Promise((resolve) => (flush.resolve = resolve));
    const timer = timeoutMillis < HOLD_MILLIS ? setTimeout(flush.resolve, timeoutMillis) : undefined;
    this.#flushes.push(flush);
    this.#sendAfter(0);
    await done;
    this.#flushes = this.#flushes.filter((other) => other !== flush);
    clearTimeout(timer);
    clearInterval(hold);
  }

  /** The process does not wait for it. @param {number} millis */
  #sendAfter(millis) {
    if (this.#isSending || this.#due <= millis) return;
    clearTimeout(this.#timer);
    this.#due = millis;
    this.#timer = setTimeout(() => this.#sendAll(), millis).unref();
  }

  async #sendAll() {
    this.#due = Infinity;
    this.#isSending = true;
    while (this.#waiting.length > 0 && !this.#isClosed) await this.#sendBatch();
    this.#isSending = false;
    if (this.#isClosed) this.#dropWaiting();
  }

  #dropWaiting() {
    const { length } = this.#waiting;
    if (length === 0) return;
    this.#counts.dropped += length;
    this.#lastReason = ENDED;
    this.#leave(length);
  }

  /** Lets the first records out, whatever became of them. @param {number} count */
  #leave(count) {
    for (const { bytes } of this.#waiting.splice(0, count)) this.#waitingBytes -= bytes;
    this.#left += count;
    for (const { until, resolve } of this.#flushes) if (this.#left >= until) resolve();
  }

  /** Nothing leaves the queue before it is known what became of it. */
  async #sendBatch() {
    const { send } = this.#options;
    const count = this.#nextBatch();
    let delivery;
    try {
      const batch = [];
      for (const record of this.#waiting.slice(0, count)) {
        batch.push(await this.#prepared(record));
        // Others come first.
        await new Promise((resolve) => setImmediate(resolve));
      }
      delivery = await send(batch);
    } catch (error) {
      delivery = { sent: 0, reason: messageOf(error) };
    }
    this.#counts.sent += delivery.sent;
    this.#counts.failed += count - delivery.sent;
    this.#lastReason = delivery.reason ?? this.#lastReason;
    this.#leave(count);
  }

  /** @param {Record} record */
  async #prepared(record) {
    const { prepared, undecoded } = await this.#options.prepare(record);
    this.#counts.undecoded += undecoded?.count ?? 0;
    this.#lastReason = undecoded?.reason ?? this.#lastReason;
    return prepared;
  }

  /** How many records go into one request. */
  #nextBatch() {
    let bytes = 0;
    const end = this.#waiting.slice(0, MAX_BATCH_RECORDS).findIndex((record) => (bytes += record.bytes) > MAX_BATCH_BYTES);
    return end === -1 ? Math.min(this.#waiting.length, MAX_BATCH_RECORDS) : Math.max(end, 1);
  }
}
