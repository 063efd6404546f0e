/** The entry for browsers, workers and bundlers: `await init()` once, then everything else. */
import { setHost, setInstance } from "./engines.js";
// Not by `import()`, which service workers forbid and which one-file bundles of workers cannot have.
import * as generalGlue from "./general.js";
import { instantiate } from "./instantiate.js";
import { checkOptions } from "./options.js";
import * as readerGlue from "./reader.js";
import * as slimGlue from "./slim.js";
import * as spansGlue from "./spans.js";

export { Token2TextError } from "./errors.js";
export { Enricher, strip } from "./enricher.js";
export { memoryBytes } from "./engines.js";
export { PieceFlag } from "./pieces.js";
export { read } from "./read.js";
export { openRollouts, readRollouts } from "./rollouts.js";
export { Tokenizer } from "./tokenizer.js";
export { write } from "./write.js";

/** @typedef {import("./engines.js").LaterName} LaterName */
/** @typedef {import("./instantiate.js").StartableGlue} StartableGlue */
/** @typedef {import("./instantiate.js").WasmSource} WasmSource */
/** @typedef {{ [name in LaterName]?: WasmSource | Promise<WasmSource> }} InitOptions */
/** @typedef {import("./errors.js").ErrorCode} ErrorCode */
/** @typedef {import("./tokenizer.js").TokenIds} TokenIds */
/** @typedef {import("./tokenizer.js").Bytes} Bytes */
/** @typedef {import("./tokenizer.js").Source} Source */
/** @typedef {import("./tokenizer.js").Progress} Progress */
/** @typedef {import("./tokenizer.js").TokenizerInfo} TokenizerInfo */
/** @typedef {import("./tokenizer.js").TokenizerOptions} TokenizerOptions */
/** @typedef {import("./tokenizer.js").LoadOptions} LoadOptions */
/** @typedef {import("./tokenizer.js").DecodeOptions} DecodeOptions */
/** @typedef {import("./tokenizer.js").Pieces} Pieces */
/** @typedef {import("./drift.js").Drift} Drift */
/** @typedef {import("./drift.js").DriftRun} DriftRun */
/** @typedef {import("./drift.js").DriftCause} DriftCause */
/** @typedef {import("./drift.js").RangeDrift} RangeDrift */
/** @typedef {import("./drift.js").CauseCount} CauseCount */
/** @typedef {import("./drift.js").TokenRange} TokenRange */
/** @typedef {import("./drift.js").DriftOptions} DriftOptions */
/** @typedef {import("./stream.js").TextStream} TextStream */
/** @typedef {import("./tokenizer.js").EncodeOptions} EncodeOptions */
/** @typedef {import("./enricher.js").EnricherOptions} EnricherOptions */
/** @typedef {import("./enricher.js").StripOptions} StripOptions */
/** @typedef {import("./read.js").ReadOptions} ReadOptions */
/** @typedef {import("./rollouts.js").RolloutOptions} RolloutOptions */
/** @typedef {import("./rollouts.js").OpenRolloutsOptions} OpenRolloutsOptions */
/** @typedef {import("./rollout-reader.js").RolloutReader} RolloutReader */
/** @typedef {import("./rollout.js").Rollouts} Rollouts */
/** @typedef {import("./rollout.js").Rollout} Rollout */
/** @typedef {import("./rollout.js").RolloutCall} RolloutCall */
/** @typedef {import("./rollout.js").Join} Join */
/** @typedef {import("./rollout.js").Segment} Segment */
/** @typedef {import("./rollout.js").RolloutOverview} RolloutOverview */
/** @typedef {import("./rollout.js").RolloutSpan} RolloutSpan */
/** @typedef {import("./rollout.js").TokenNumbers} TokenNumbers */
/** @typedef {import("./rollout.js").Message} Message */
/** @typedef {import("./rollout.js").Finding} Finding */
/** @typedef {import("./rollout.js").SkippedPart} SkippedPart */
/** @typedef {import("./span.js").Span} Span */
/** @typedef {import("./span.js").SpanField} SpanField */
/** @typedef {import("./write.js").SpanInput} SpanInput */
/** @typedef {import("./write.js").WriteFormat} WriteFormat */
/** @typedef {import("./write.js").WriteOptions} WriteOptions */
/** @typedef {import("./enricher.js").Format} Format */
/** @typedef {import("./enricher.js").Origin} Origin */
/** @typedef {import("./enricher.js").Limits} Limits */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./report.js").Report} Report */
/** @typedef {import("./report.js").ReportField} ReportField */
/** @typedef {import("./report.js").ReportTotals} ReportTotals */
/** @typedef {import("./report.js").ReportMessages} ReportMessages */
/** @typedef {import("./layout.js").LayoutField} LayoutField */

/**
 * What is fetched later, and from where by default: bundlers know this very spelling.
 *
 * @type {Record<LaterName, { glue: StartableGlue, address: () => WasmSource }>}
 */
const LATER = {
  general: { glue: generalGlue, address: () => new URL("./general_bg.wasm", import.meta.url) },
  reader: { glue: readerGlue, address: () => new URL("./reader_bg.wasm", import.meta.url) },
  spans: { glue: spansGlue, address: () => new URL("./spans_bg.wasm", import.meta.url) },
};

/** @type {Promise<void> | undefined} */
let ready;

/**
 * Starts the WebAssembly module. The first call does the work, later calls give the same promise; after a failure the next
 * call tries again. In Node, Bun, Deno and Cloudflare Workers, and with `token2text/inline`, there is nothing to wait for.
 *
 * @param {WasmSource | Promise<WasmSource>} [source] The package's `slim_bg.wasm`: its URL, a Response, its bytes or the
 *   compiled module. By default it is fetched from beside this file.
 * @param {InitOptions} [options] Likewise `general_bg.wasm`, which is fetched when a tokenizer needs it, `spans_bg.wasm`, at the first
 *   `read` or `write`, or by `Enricher.create` for conversations, and `reader_bg.wasm`, at the first `openRollouts` or `readRollouts`.
 * @returns {Promise<void>}
 */
export function init(source = new URL("./slim_bg.wasm", import.meta.url), options) {
  ready ??= start(source, options).catch((error) => {
    ready = undefined;
    throw error;
  });
  return ready;
}

/** @param {WasmSource | Promise<WasmSource>} source @param {InitOptions} [options] */
async function start(source, options) {
  const given = checkOptions(options, Object.keys(LATER), "init");
  // A failure is told when somebody needs it.
  for (const later of Object.values(given)) if (later instanceof Promise) later.catch(() => {});
  setInstance("slim", slimGlue, await instantiate(slimGlue, source, "slim_bg.wasm"));
  setHost({ load: (name) => startLater(name, given[name]) });
}

/** @param {LaterName} name @param {WasmSource | Promise<WasmSource>} [source] */
async function startLater(name, source = LATER[name].address()) {
  const { glue } = LATER[name];
  setInstance(name, glue, await instantiate(glue, source, `${name}_bg.wasm`));
}
