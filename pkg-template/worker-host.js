/** The script of the Web Worker that `token2text/worker` starts. */
import * as api from "./index.js";
import { serve } from "./worker-calls.js";

/** @typedef {{ postMessage(message: unknown, transfer: ArrayBuffer[]): void, onmessage(event: { data: unknown }): void }} WorkerScope */
const scope = /** @type {WorkerScope} */ (/** @type {unknown} */ (globalThis));
const receive = serve(api, (message, transfer) => scope.postMessage(message, transfer));
scope.onmessage = (/** @type {{ data: unknown }} */ event) => receive(event.data);
