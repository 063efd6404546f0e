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

export class Calls {
  #worker;
  #lastId = 0;
  #isClosed = false;
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();

  /** @param {Worker} worker @param {(said: any) => void} onSaid @param {(refused: Refused) => Refusal} refusalOf */
  constructor(worker, onSaid, refusalOf) {
    this.#worker = worker;
    worker.on("message", (/** @type {Said} */ said) => {
      for (const { id, value, refused } of said.answers) {
        const { resolve, reject } = this.#waiting.get(id) ?? {};
        this.#waiting.delete(id);
        if (refused) reject?.(refusalOf(refused));
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
   * @param {(refused: Refused) => Refusal} [refusalOf]
   * @throws {StoreError}
   */
  static async start(script, options, onSaid = () => {}, refusalOf = ({ statusCode, message }) => new Refusal(statusCode, message)) {
    const worker = new Worker(new URL(script, import.meta.url), { workerData: options });
    const [opened] = /** @type {Opened[]} */ (await once(worker, "message"));
    if ("unusable" in opened) throw new StoreError(opened.unusable.code, opened.unusable.message);
    return new Calls(worker, onSaid, refusalOf);
  }

  /** @param {string} method @param {any[]} args @param {ArrayBuffer[]} [moved] @returns {Promise<any>} */
  ask(method, args, moved = []) {
    if (this.#isClosed) return Promise.reject(new Error("the store is closed"));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, args }, moved);
    });
  }

  /** Ends when all that was asked is answered. */
  async close() {
    const ended = once(this.#worker, "exit");
    this.ask("close", []).catch(() => {});
    this.#isClosed = true;
    await ended;
  }
}

/** @param {Call} call @param {Record<string, (...args: any[]) => unknown>} methods @returns {Answer} */
export function answerTo({ id, method, args }, methods) {
  try {
    return { id, value: methods[method](...args) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { id, refused: { statusCode: error.statusCode, message: error.message } };
  }
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
