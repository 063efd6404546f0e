/** Calls to a thread of the store, and their answers. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { Refusal } from "../receive/refusal.js";
import { StoreError } from "./store-error.js";

/** @typedef {{ id: number, method: string, args: any[] }} Call */
/** @typedef {{ id: number, value?: any, refused?: Refused }} Answer */
/** @typedef {{ statusCode: number, message: string }} Refused */
/** What a thread says first: that it is open, or why not. @typedef {{ isOpen: true } | { unusable: { code: StoreError["code"], message: string } }} Opened */
/** What it says then: answers, and more that its own side knows of. @typedef {{ answers: Answer[] } & Record<string, any>} Said */

const UNAVAILABLE = 503;

export class Calls {
  #worker;
  #lastId = 0;
  #isClosed = false;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();
  /** What is not posted yet. @type {Call[]} */
  #calls = [];
  /** @type {ArrayBuffer[]} */
  #moved = [];

  /** @param {Worker} worker @param {(said: any) => void} onSaid */
  constructor(worker, onSaid) {
    this.#worker = worker;
    worker.on("message", (/** @type {Said} */ said) => {
      for (const { id, value, refused } of said.answers) {
        const { resolve, reject } = this.#waiting.get(id) ?? {};
        this.#waiting.delete(id);
        if (refused) reject?.(new Refusal(refused.statusCode, refused.message));
        else resolve?.(value);
      }
      onSaid(said);
    });
  }

  /**
   * Starts a thread and waits until it has opened its file. If it ends by a mistake of its own later, so does the process.
   *
   * @param {string} script
   * @param {object} options
   * @param {(said: any) => void} [onSaid]
   * @throws {StoreError}
   */
  static async start(script, options, onSaid = () => {}) {
    const worker = new Worker(new URL(script, import.meta.url), { workerData: options });
    const [opened] = /** @type {Opened[]} */ (await once(worker, "message"));
    if ("unusable" in opened) throw new StoreError(opened.unusable.code, opened.unusable.message);
    return new Calls(worker, onSaid);
  }

  /** @param {string} method @param {any[]} args @param {ArrayBuffer[]} [moved] @returns {Promise<any>} */
  ask(method, args, moved = []) {
    if (this.#isClosed) return Promise.reject(new Error("the store is closed"));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (this.#calls.length === 0) setImmediate(() => this.#post());
      this.#calls.push({ id, method, args });
      this.#moved.push(...moved);
    });
  }

  /** What was asked in one turn of the event loop goes together: waking a thread costs more than a call. */
  #post() {
    this.#worker.postMessage(this.#calls, this.#moved);
    this.#calls = [];
    this.#moved = [];
  }

  /** Ends when all that was asked is answered. */
  async close() {
    const ended = once(this.#worker, "exit");
    this.ask("close", []).catch(() => {});
    this.#isClosed = true;
    await ended;
  }
}

/**
 * @param {Call} call
 * @param {Record<string, (...args: any[]) => unknown>} methods
 * @returns {Answer}
 * @throws What is no Refusal.
 */
export function answerTo({ id, method, args }, methods) {
  try {
    return { id, value: methods[method](...args) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { id, refused: { statusCode: error.statusCode, message: error.message } };
  }
}

/** The same of what only reads: what SQLite cannot read now is refused. @param {Call} call @param {Record<string, (...args: any[]) => unknown>} methods */
export function readingAnswerTo(call, methods) {
  try {
    return answerTo(call, methods);
  } catch (error) {
    return { id: call.id, refused: refusedBySqlite(error, "read") };
  }
}

/**
 * @param {unknown} error
 * @param {"read" | "written"} what Of the store, could not be done.
 * @returns {Refused}
 * @throws The same error, if it is not SQLite's.
 */
export function refusedBySqlite(error, what) {
  const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
  if (!code?.startsWith("SQLITE_")) throw error;
  return { statusCode: UNAVAILABLE, message: `the store cannot be ${what}: ${message} (${code})` };
}

/**
 * Opens something in a thread, and says to the other side whether that went well.
 *
 * @param {import("node:worker_threads").MessagePort} port
 * @param {() => void} open
 */
export function opening(port, open) {
  try {
    open();
    port.postMessage({ isOpen: true });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    port.postMessage({ unusable: { code: error.code, message: error.message } });
  }
}
