/** The entry with the WebAssembly inside, for one-file bundles and for hosts that serve no `.wasm` files. */
import { setHost, setInstance } from "./engines.js";
import { hasFiles, openFile } from "./files.js";
import { instantiate } from "./instantiate.js";
import * as slimGlue from "./slim.js";
import slimBase64 from "./slim_inline.js";

export { Token2TextError } from "./errors.js";
export { Enricher, strip } from "./enricher.js";
export { memoryBytes } from "./engines.js";
export { PieceFlag } from "./pieces.js";
export { read } from "./read.js";
export { openRollouts, readRollouts } from "./rollouts.js";
export { Tokenizer } from "./tokenizer.js";
export { write } from "./write.js";

/** What is started later: the glue, and the module as gzip in base64. */
const LATER = {
  general: () => Promise.all([import("./general.js"), import("./general_inline.js")]),
  reader: () => Promise.all([import("./reader.js"), import("./reader_inline.js")]),
  spans: () => Promise.all([import("./spans.js"), import("./spans_inline.js")]),
};

const slimBytes = fromBase64(slimBase64);
let isReady = startNow();

/** Ready on import, except where a browser only compiles asynchronously or forbids WebAssembly: this then waits, or says so. */
export async function init() {
  if (isReady) return;
  setInstance("slim", slimGlue, await instantiate(slimGlue, slimBytes, "slim_bg.wasm"));
  isReady = true;
}

setHost({ load, ...(hasFiles && { openFile }) });

function startNow() {
  try {
    setInstance("slim", slimGlue, slimGlue.initSync({ module: slimBytes }));
    return true;
  } catch {
    return false;
  }
}

/** @param {keyof typeof LATER} name */
async function load(name) {
  const [glue, { default: base64 }] = await LATER[name]();
  const plain = new Blob([fromBase64(base64)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(plain).arrayBuffer();
  setInstance(name, glue, await instantiate(glue, bytes, `${name}_bg.wasm`));
}

/** @param {string} text */
function fromBase64(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
