/**
 * What is written goes into SQLite's write-ahead log first, and is copied into the file from there. SQLite copies within a commit, and
 * whoever waits for that commit waits for the disk three times. So a thread of its own copies while others are written.
 *
 * A log that is written all the time is never copied to its end, and only then it begins anew: what is left of a long one, which is
 * little, the keeper copies itself, between two transactions. SQLite calls copying a checkpoint.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

/** Of bodies: when so much was written, copying begins. */
const STEP_BYTES = 4 << 20;
/** Pages of a log that is to begin anew: 16 MiB. */
const LONG_PAGES = 2000;
/** Pages at which SQLite copies within a commit, should the thread not be able to: 32 MiB. */
export const MOST_PAGES = 4096;

/** `pages`: of the log, unless it could not be copied now. @typedef {{ pages?: number }} Checkpoint */

/** @param {import("better-sqlite3").Database} database @returns {Checkpoint} */
export function checkpoint(database) {
  try {
    const [{ log }] = /** @type {{ log: number }[]} */ (database.pragma("wal_checkpoint(PASSIVE)"));
    return { pages: log };
  } catch (error) {
    // The disk is full, for instance. All of it is in the log still, and is copied the next time.
    if (!(/** @type {{ code?: string }} */ (error).code?.startsWith("SQLITE_"))) throw error;
    return {};
  }
}

export class WriteAheadLog {
  #worker;
  #bytes = 0;
  #isUnderWay = false;

  /** @param {string} file Of the store. @param {() => void} checkpointRest */
  constructor(file, checkpointRest) {
    this.#worker = new Worker(new URL("./checkpoint-thread.js", import.meta.url), { workerData: { file } });
    this.#worker.on("message", (/** @type {Checkpoint} */ { pages = 0 }) => {
      this.#isUnderWay = false;
      if (pages >= LONG_PAGES) checkpointRest();
    });
  }

  /** @param {number} bytes Of bodies, in a transaction. */
  written(bytes) {
    this.#bytes += bytes;
    if (this.#isUnderWay || this.#bytes < STEP_BYTES) return;
    this.#bytes = 0;
    this.#isUnderWay = true;
    this.#worker.postMessage("checkpoint");
  }

  /** Ends when nothing is being copied any more. */
  async close() {
    const ended = once(this.#worker, "exit");
    this.#worker.postMessage("close");
    await ended;
  }
}
