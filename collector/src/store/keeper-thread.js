/**
 * The thread in which all is written, so that no listener waits for a disk. What has come while one transaction was written is the next
 * one: one wait for the disk, however many bodies.
 */
import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { opening } from "./calls.js";
import { Keeper } from "./keeper.js";
import { WriteAheadLog } from "./write-ahead-log.js";

/** @typedef {import("./calls.js").Call} Call */
/** What it says; `seconds`: of the transaction. @typedef {{ answers: import("./calls.js").Answer[] } & Partial<import("./keeper.js").Written & { seconds: number }>} Said */

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
const WRITES = ["add", "settle", "resolve"];
/** Of one transaction; what was posted together may go beyond it. */
const MOST_BYTES = 32 << 20;
/** How often what is too old is looked for. */
const OLD_MILLIS = 60_000;

/** @type {import("./keeper.js").Options} */
const options = workerData;
opening(port, () => serve(new Keeper(options)));

/** @param {Keeper} keeper */
function serve(keeper) {
  const log = new WriteAheadLog(options.file, () => keeper.checkpoint());
  const write = (/** @type {Call[]} */ calls) => {
    const start = performance.now();
    const written = keeper.write(calls);
    port.postMessage({ ...written, seconds: (performance.now() - start) / 1000 });
    log.written(sizeOf(calls));
    return written;
  };
  // Some at a time, so that what is received need not wait for all.
  let isOpen = true;
  const pruneOld = () => {
    if (isOpen && write([{ id: 0, method: "pruneOld", args: [] }]).pruned.age > 0) setImmediate(pruneOld);
  };
  const { ageMillis } = options;
  const ageing = ageMillis === undefined ? undefined : setInterval(pruneOld, Math.min(OLD_MILLIS, ageMillis / 2));

  port.on("message", (/** @type {Call[]} */ first) => {
    const calls = queued(first);
    const writes = calls.filter(({ method }) => WRITES.includes(method));
    if (writes.length > 0) write(writes);
    for (const call of calls) {
      if (WRITES.includes(call.method)) continue;
      if (call.method === "close") return void close();
      const answer = keeper.read(call);
      port.postMessage({ answers: [answer] }, buffersOf(answer.value));
    }
  });

  async function close() {
    clearInterval(ageing);
    isOpen = false;
    await log.close();
    keeper.close();
    port.close();
  }
}

/** What has come by now. @param {Call[]} first */
function queued(first) {
  const calls = [...first];
  for (let bytes = sizeOf(first); bytes < MOST_BYTES; ) {
    const next = receiveMessageOnPort(port);
    if (!next) break;
    calls.push(...next.message);
    bytes += sizeOf(next.message);
  }
  return calls;
}

/** @param {Call[]} calls @returns {number} */
function sizeOf(calls) {
  return calls.reduce((sum, { method, args: [body] }) => sum + (method === "add" ? body.length : 0), 0);
}

/** Those of the bodies in an answer, which are moved. @param {unknown} value */
function buffersOf(value) {
  if (!Array.isArray(value)) return [];
  return value.map((one) => (one.stored ?? one).body.buffer);
}
