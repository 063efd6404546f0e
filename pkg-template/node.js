/** The entry for Node, Bun and Deno: ready on import, both modules read from the files of this package. */
import { readFileSync } from "node:fs";
import { setHost, setInstance } from "./engines.js";
import { Token2TextError, messageOf } from "./errors.js";
import { openFile } from "./files.js";
import * as generalGlue from "./general.js";
import * as slimGlue from "./slim.js";

export { Token2TextError } from "./errors.js";
export { Enricher, strip } from "./enricher.js";
export { read } from "./read.js";
export { Tokenizer } from "./tokenizer.js";
export { write } from "./write.js";

/** There is nothing to wait for here; so that the same code runs in browsers. */
export async function init() {}

/** Bundlers look for this very spelling, which throws where a bundle has no address of its own. */
const FILES = {
  "./slim_bg.wasm": () => new URL("./slim_bg.wasm", import.meta.url),
  "./general_bg.wasm": () => new URL("./general_bg.wasm", import.meta.url),
};

setInstance("slim", slimGlue, slimGlue.initSync({ module: read("./slim_bg.wasm") }));
setHost({ loadGeneral: async () => loadGeneralSync(), loadGeneralSync, openFile });

function loadGeneralSync() {
  setInstance("general", generalGlue, generalGlue.initSync({ module: read("./general_bg.wasm") }));
}

/** @param {"./slim_bg.wasm" | "./general_bg.wasm"} file */
function read(file) {
  try {
    return readFileSync(FILES[file]());
  } catch (error) {
    const cure = 'If a bundler made one file of this program, mark "token2text" as external, or import "token2text/inline"';
    throw new Token2TextError("unreadable_source", `token2text cannot read its own file: ${messageOf(error)}. ${cure}`, { cause: error });
  }
}
