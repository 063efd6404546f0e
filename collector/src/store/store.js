/** The store, as the listeners have it: every call is answered by the thread. */
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { Refusal } from "../receive/refusal.js";
import { traceIdBytes } from "./contents.js";
import { Standing } from "./standing.js";
import { StoreError } from "./store-error.js";

/** @typedef {import("../types.js").Store} Store */

const AGAIN_MILLIS = 1000;

/**
 * Opens a store, or makes one.
 *
 * @param {import("./keeper.js").Options} options
 * @param {Pick<import("../types.js").Context, "metrics" | "log">} context
 * @returns {Promise<Store>}
 * @throws {StoreError}
 */
export async function openStore(options, { metrics, log }) {
  const worker = new Worker(new URL("./thread.js", import.meta.url), { workerData: options });
  const standing = new Standing(metrics, log);
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const closing = new AbortController();
  let lastId = 0;

  const [opened] = /** @type {import("./thread.js").Opened[]} */ (await once(worker, "message"));
  if ("unusable" in opened) throw new StoreError(opened.unusable.code, opened.unusable.message);
  worker.on("message", (/** @type {import("./thread.js").Done} */ { answers, added = 0, pruned, seconds = 0 }) => {
    if (added > 0) metrics.stored(added, seconds);
    if (pruned) standing.pruned(pruned);
    for (const { id, value, refused } of answers) {
      const { resolve, reject } = waiting.get(id) ?? {};
      waiting.delete(id);
      if (refused) reject?.(standing.refusal(refused));
      else resolve?.(value);
    }
    if (added > 0) standing.accepted();
    if (added > 0) for (const listener of listeners) listener();
  });

  /** @param {string} method @param {any[]} args @param {ArrayBuffer[]} [moved] @returns {Promise<any>} */
  function ask(method, args, moved = []) {
    if (closing.signal.aborted) return Promise.reject(new Error("the store is closed"));
    const id = ++lastId;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, method, args }, moved);
    });
  }

  /** Asks until it is done: little is written, for which there will be space. @param {string} method @param {any[]} args @returns {Promise<void>} */
  async function persist(method, args) {
    for (;;) {
      try {
        return await ask(method, args);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        await wait(AGAIN_MILLIS, undefined, { signal: closing.signal });
      }
    }
  }

  return {
    add(body, contentType) {
      // A copy that is moved, for the buffer of a small body holds others too.
      const copy = new Uint8Array(body);
      return ask("add", [copy, contentType], [copy.buffer]);
    },
    after: (position, bytes) => ask("after", [position, bytes]),
    onAdded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    position: (name) => ask("position", [name]),
    settle: (name, position, dead) => persist("settle", [name, position, dead]),
    due: (name, limit) => ask("due", [name, limit]),
    resolve: (id, dead) => persist("resolve", [id, dead]),
    facts: async () => ({ ...(await ask("facts", [])), refusing: standing.refusing }),
    changed: (position, limit) => ask("changed", [position, limit]),
    ofTraces: (ids, position, bytes) => ask("ofTraces", [ids.map((id) => new Uint8Array(traceIdBytes(id))), position, bytes]),
    async close() {
      const ended = once(worker, "exit");
      worker.postMessage({ id: 0, method: "close", args: [] });
      closing.abort(new Error("the store is closed"));
      await ended;
    },
  };
}
