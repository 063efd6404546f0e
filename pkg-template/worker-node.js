/** The entry that decodes in a thread of Node, Bun or Deno: the same classes and functions, each result a Promise. */
import { resolve as resolvePath } from "node:path";
import { Worker } from "node:worker_threads";
import { isAddress } from "./files.js";
import { checkWorker, setPlatform } from "./worker-connection.js";

export { Token2TextError } from "./errors.js";
export { PieceFlag } from "./pieces.js";
export { Enricher, Tokenizer, init, read, readRollouts, strip, terminate, transfer, write } from "./worker-client.js";

setPlatform({ spawn, resolve });

/** @type {import("./worker-connection.js").Spawn} */
function spawn({ onMessage, onEnd }, source) {
  const worker = startWorker(source);
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

/** @param {import("./worker-connection.js").WorkerSource} [source] @returns {Worker} */
function startWorker(source = new URL("./worker-host-node.js", import.meta.url).href) {
  if (typeof source === "function") return checkWorker(source());
  const script = isAddress(source) ? new URL(source) : source;
  // Flags of the program, such as --input-type, may be refused here.
  return new Worker(script, { execArgv: [] });
}

/** Paths made absolute: the program may change its folder before a worker is replaced. @param {string | URL} address */
function resolve(address) {
  return isAddress(address) ? String(address) : resolvePath(String(address));
}
