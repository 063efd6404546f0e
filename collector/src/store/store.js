/** The store, as the other parts have it: everything is asked of its threads. */
import { setTimeout as wait } from "node:timers/promises";
import { Refusal } from "../receive/refusal.js";
import { Calls } from "./calls.js";
import { traceIdBytes } from "./contents.js";
import { Standing } from "./standing.js";

const AGAIN_MILLIS = 1000;

/**
 * Opens a store, or makes one.
 *
 * @param {import("./keeper.js").Options} options
 * @param {Pick<import("../types.js").Context, "metrics" | "log">} context
 * @returns {Promise<import("../types.js").Store>}
 * @throws {import("./store-error.js").StoreError}
 */
export async function openStore(options, { metrics, log }) {
  const standing = new Standing(metrics, log);
  /** @type {Set<() => void>} */
  const listeners = new Set();
  const onSaid = (/** @type {import("./keeper-thread.js").Said} */ { added = 0, pruned, seconds = 0 }) => {
    if (pruned) standing.pruned(pruned);
    if (added === 0) return;
    metrics.stored(added, seconds);
    standing.accepted();
    for (const listener of listeners) listener();
  };
  const keeper = await Calls.start("./keeper-thread.js", options, onSaid);
  const reader = await Calls.start("./reader-thread.js", { file: options.file });
  const closing = new AbortController();

  /** Asks until it is done: little is written, for which there will be space. @param {string} method @param {any[]} args @returns {Promise<void>} */
  async function persist(method, args) {
    for (;;) {
      try {
        return await keeper.ask(method, args);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        await wait(AGAIN_MILLIS, undefined, { signal: closing.signal });
      }
    }
  }

  return {
    async add(body, contentType, isGiven = false) {
      // The buffer of a small body holds others too.
      const isWhole = isGiven && body.byteLength === body.buffer.byteLength;
      const moved = /** @type {Uint8Array<ArrayBuffer>} */ (isWhole ? body : new Uint8Array(body));
      try {
        return await keeper.ask("add", [moved, contentType], [moved.buffer]);
      } catch (error) {
        throw standing.told(error);
      }
    },
    after: (position, bytes) => keeper.ask("after", [position, bytes]),
    onAdded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    position: (name) => keeper.ask("position", [name]),
    settle: (name, position, dead) => persist("settle", [name, position, dead]),
    due: (name, limit) => keeper.ask("due", [name, limit]),
    resolve: (id, dead) => persist("resolve", [id, dead]),
    facts: async () => ({ ...(await keeper.ask("facts", [])), refusing: standing.refusing }),
    changed: (position, limit) => reader.ask("changed", [position, limit]),
    spansOf: (traceIds, bytes) => reader.ask("spansOf", [traceIds.map((id) => new Uint8Array(traceIdBytes(id))), bytes]),
    async close() {
      closing.abort();
      await reader.close();
      await keeper.close();
      standing.tell();
    },
  };
}
