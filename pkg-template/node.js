/** The entry for Node, Bun and Deno: ready on import, its modules read from the files of this package. */
import { readFileSync } from "node:fs";
import { setHost, setInstance } from "./engines.js";
import { Token2TextError, messageOf } from "./errors.js";
import { openFile } from "./files.js";
import * as generalGlue from "./general.js";
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

/** There is nothing to wait for here; so that the same code runs in browsers. */
export async function init() {}

/** Bundlers look for this very spelling of addresses, which throws where a bundle has no address of its own. */
const MODULES = {
  slim: { glue: slimGlue, address: () => new URL("./slim_bg.wasm", import.meta.url) },
  general: { glue: generalGlue, address: () => new URL("./general_bg.wasm", import.meta.url) },
  reader: { glue: readerGlue, address: () => new URL("./reader_bg.wasm", import.meta.url) },
  spans: { glue: spansGlue, address: () => new URL("./spans_bg.wasm", import.meta.url) },
};

start("slim");
setHost({ load: async (name) => start(name), loadSync: start, openFile });

/** @param {keyof typeof MODULES} name */
function start(name) {
  const { glue, address } = MODULES[name];
  setInstance(name, glue, glue.initSync({ module: bytesAt(address) }));
}

/** @param {() => URL} address */
function bytesAt(address) {
  try {
    return readFileSync(address());
  } catch (error) {
    const cure = 'If a bundler made one file of this program, mark "token2text" as external, or import "token2text/inline"';
    throw new Token2TextError("unreadable_source", `token2text cannot read its own file: ${messageOf(error)}. ${cure}`, { cause: error });
  }
}
