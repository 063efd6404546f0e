/** The entry that decodes in a thread of Node, Bun or Deno: the same classes and functions, each result a Promise. */
import { Worker } from "node:worker_threads";
import { setPlatform } from "./worker-connection.js";

export { Token2TextError } from "./errors.js";
export { Enricher, Tokenizer, init, strip, terminate, transfer } from "./worker-client.js";

setPlatform({ spawn, resolve: String });

/** @type {import("./worker-connection.js").Spawn} */
function spawn({ onMessage, onEnd }, source = new URL("./worker-host-node.js", import.meta.url)) {
  // Flags of the program, such as --input-type, may be refused here.
  const worker = /** @type {Worker} */ (typeof source === "function" ? source() : new Worker(source, { execArgv: [] }));
  worker.on("message", onMessage);
  worker.on("messageerror", () => onEnd("an answer could not be read"));
  worker.on("error", (error) => onEnd(error instanceof Error ? error.message : String(error)));
  worker.on("exit", (code) => onEnd(`it exited with code ${code}`));
  return {
    post: (message, transfer) => worker.postMessage(message, /** @type {ArrayBuffer[]} */ (transfer)),
    end: () => void worker.terminate(),
    hold: (isBusy) => (isBusy ? worker.ref() : worker.unref()),
  };
}
