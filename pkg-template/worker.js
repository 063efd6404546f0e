/** The entry that decodes in a Web Worker: the same classes and functions, each result a Promise. */
import { Token2TextError } from "./errors.js";
import { checkWorker, setPlatform } from "./worker-connection.js";

export { Token2TextError } from "./errors.js";
export { PieceFlag } from "./pieces.js";
export { Enricher, Tokenizer, init, read, readRollouts, strip, terminate, transfer, write } from "./worker-client.js";

/** @typedef {import("./index.js").TokenIds} TokenIds */
/** @typedef {import("./index.js").Source} Source */
/** @typedef {import("./index.js").Progress} Progress */
/** @typedef {import("./index.js").WasmSource} WasmSource */
/** @typedef {import("./index.js").TokenizerInfo} TokenizerInfo */
/** @typedef {import("./index.js").TokenizerOptions} TokenizerOptions */
/** @typedef {import("./index.js").LoadOptions} LoadOptions */
/** @typedef {import("./index.js").DecodeOptions} DecodeOptions */
/** @typedef {import("./index.js").Pieces} Pieces */
/** @typedef {import("./index.js").EncodeOptions} EncodeOptions */
/** @typedef {import("./index.js").EnricherOptions} EnricherOptions */
/** @typedef {import("./index.js").StripOptions} StripOptions */
/** @typedef {import("./index.js").SpanInput} SpanInput */
/** @typedef {import("./index.js").WriteFormat} WriteFormat */
/** @typedef {import("./index.js").WriteOptions} WriteOptions */
/** @typedef {import("./index.js").Limits} Limits */
/** @typedef {import("./index.js").Layout} Layout */
/** @typedef {import("./index.js").Report} Report */
/** @typedef {import("./index.js").ReportField} ReportField */

setPlatform({ spawn, resolve });

/** @type {import("./worker-connection.js").Spawn} */
function spawn({ onMessage, onEnd }, source) {
  if (typeof Worker !== "function") throw new Token2TextError("unreadable_source", "there are no Web Workers here");
  const worker = startWorker(source);
  let hasAnswered = false;
  worker.onmessage = ({ data }) => {
    hasAnswered = true;
    onMessage(data);
  };
  worker.onmessageerror = () => onEnd("an answer could not be read");
  worker.onerror = (event) => {
    event.preventDefault();
    const why = "its script was not found, or the Content-Security-Policy's worker-src or script-src forbids it";
    onEnd(event.message || (hasAnswered ? "it failed" : why));
  };
  return { post: (message, transfer) => worker.postMessage(message, transfer), end: () => worker.terminate() };
}

/** @param {string | URL} address */
function resolve(address) {
  const base = globalThis.document?.baseURI ?? location.href;
  return URL.canParse(address, base) ? new URL(address, base).href : String(address);
}

/** @param {import("./worker-connection.js").WorkerSource} [source] @returns {Worker} */
function startWorker(source) {
  if (typeof source === "function") return checkWorker(source());
  if (source !== undefined) return new Worker(source, { type: "module" });
  // Bundlers know this very spelling.
  return new Worker(new URL("./worker-host.js", import.meta.url), { type: "module" });
}
