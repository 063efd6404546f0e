/** The script of the `worker_threads` worker that `token2text/worker` starts. */
import { parentPort } from "node:worker_threads";
import * as api from "./node.js";
import { serve } from "./worker-calls.js";

const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
port.on("message", serve(api, (message, transfer) => port.postMessage(message, transfer)));
