/** The thread in which traces are looked for and put together, beside the one that writes. */
import { parentPort, workerData } from "node:worker_threads";
import { opening, readingAnswerTo } from "./calls.js";
import { Reader } from "./reader.js";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);

opening(port, () => {
  const reader = new Reader(workerData.file);
  port.on("message", (/** @type {import("./calls.js").Call} */ call) => {
    if (call.method !== "close") {
      const answer = readingAnswerTo(call, {
        changed: (after, limit) => reader.changed(after, limit),
        spansOf: (traces, bytes) => reader.spansOf(traces, bytes),
      });
      return port.postMessage({ answers: [answer] });
    }
    reader.close();
    port.close();
  });
});
