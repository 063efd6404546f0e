/** The entry for browsers, workers and bundlers: `await init()` once, then everything else. */
import { setHost, setInstance } from "./engines.js";
import { asToken2TextError } from "./errors.js";
import * as slimGlue from "./slim.js";

export { Token2TextError } from "./errors.js";
export { Enricher, strip } from "./enricher.js";
export { Tokenizer } from "./tokenizer.js";

/** @typedef {import("./tokenizer.js").TokenIds} TokenIds */
/** @typedef {import("./tokenizer.js").Source} Source */
/** @typedef {import("./tokenizer.js").Progress} Progress */
/** @typedef {import("./tokenizer.js").TokenizerInfo} TokenizerInfo */
/** @typedef {import("./tokenizer.js").TokenizerOptions} TokenizerOptions */
/** @typedef {import("./tokenizer.js").LoadOptions} LoadOptions */
/** @typedef {import("./tokenizer.js").DecodeOptions} DecodeOptions */
/** @typedef {import("./enricher.js").EnricherOptions} EnricherOptions */
/** @typedef {import("./enricher.js").StripOptions} StripOptions */
/** @typedef {import("./enricher.js").Limits} Limits */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").ReportField} ReportField */
/** @typedef {string | URL | Request | Response | BufferSource | WebAssembly.Module} WasmSource */

/** @type {Promise<void> | undefined} */
let ready;
/** @type {Promise<void> | undefined} */
let generalReady;

/**
 * Loads the WebAssembly module. The first call does the work, later calls give the same promise; after a failure the next
 * call tries again. In Node there is nothing to wait for.
 *
 * @param {WasmSource | Promise<WasmSource>} [source] Where `slim_bg.wasm` is; by default beside this file.
 * @param {{ general?: WasmSource | Promise<WasmSource> }} [options] Where `general_bg.wasm` is, which is fetched when a
 *   tokenizer needs it; by default beside this file.
 * @returns {Promise<void>}
 */
export function init(source, options = {}) {
  ready ??= start(source, options.general).catch((error) => {
    ready = undefined;
    throw asToken2TextError(error);
  });
  return ready;
}

/** @param {WasmSource | Promise<WasmSource>} [source] @param {WasmSource | Promise<WasmSource>} [generalSource] */
async function start(source, generalSource) {
  setInstance("slim", slimGlue, await slimGlue.default(source === undefined ? undefined : { module_or_path: source }));
  setHost({ loadGeneral: () => loadGeneral(generalSource) });
}

/** @param {WasmSource | Promise<WasmSource>} [source] */
function loadGeneral(source) {
  generalReady ??= startGeneral(source).catch((error) => {
    generalReady = undefined;
    throw error;
  });
  return generalReady;
}

/** @param {WasmSource | Promise<WasmSource>} [source] */
async function startGeneral(source) {
  const glue = await import("./general.js");
  setInstance("general", glue, await glue.default(source === undefined ? undefined : { module_or_path: source }));
}
