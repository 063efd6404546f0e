/** The entry for Cloudflare Workers, where only modules of the upload are run: ready on import. */
import { setHost, setInstance } from "./engines.js";
import * as generalGlue from "./general.js";
import * as readerGlue from "./reader.js";
import * as slimGlue from "./slim.js";
import slimModule from "./slim_bg.wasm";
import * as spansGlue from "./spans.js";

export { Token2TextError } from "./errors.js";
export { Enricher, strip } from "./enricher.js";
export { memoryBytes } from "./engines.js";
export { PieceFlag } from "./pieces.js";
export { read } from "./read.js";
export { openRollouts, readRollouts } from "./rollouts.js";
export { Tokenizer } from "./tokenizer.js";
export { write } from "./write.js";

/** There is nothing to wait for here; so that the same code runs in browsers. */
export async function init() {}

/** What is started later. */
const LATER = {
  general: { glue: generalGlue, importModule: () => import("./general_bg.wasm") },
  reader: { glue: readerGlue, importModule: () => import("./reader_bg.wasm") },
  spans: { glue: spansGlue, importModule: () => import("./spans_bg.wasm") },
};

setInstance("slim", slimGlue, slimGlue.initSync({ module: slimModule }));
setHost({ load });

/** @param {keyof typeof LATER} name */
async function load(name) {
  const { glue, importModule } = LATER[name];
  const { default: module } = await importModule();
  setInstance(name, glue, glue.initSync({ module }));
}
