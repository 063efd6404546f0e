/** The thread that copies what was written from the log into the file. */
import { parentPort, workerData } from "node:worker_threads";
import { openBeside } from "./open.js";
import { checkpoint } from "./write-ahead-log.js";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
const database = openBeside(workerData.file);

port.on("message", (/** @type {"checkpoint" | "close"} */ asked) => {
  if (asked === "checkpoint") return port.postMessage(checkpoint(database));
  database.close();
  port.close();
});
