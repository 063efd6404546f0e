/** The thread in which traces are looked for and put together, beside the one that writes. */
import { parentPort, workerData } from "node:worker_threads";
import { opening, readingAnswerTo } from "./calls.js";
import { Reader } from "./reader.js";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);

opening(port, () => {
  const reader = new Reader(workerData.file);
  /** @type {Record<string, (...args: any[]) => unknown>} */
  const METHODS = {
    changed: (after, limit) => reader.changed(after, limit),
    spansOf: (traces, bytes) => reader.spansOf(traces, bytes),
    close() {
      reader.close();
      port.close();
    },
  };
  port.on("message", (/** @type {import("./calls.js").Call[]} */ calls) => {
    for (const call of calls) port.postMessage({ answers: [readingAnswerTo(call, METHODS)] });
  });
});
