/** The entry for Cloudflare Workers, where only modules of the upload are run: ready on import. */
import { setHost, setInstance } from "./engines.js";
import * as generalGlue from "./general.js";
import * as slimGlue from "./slim.js";
import slimModule from "./slim_bg.wasm";

export { Token2TextError } from "./errors.js";
export { Enricher, strip } from "./enricher.js";
export { read } from "./read.js";
export { Tokenizer } from "./tokenizer.js";
export { write } from "./write.js";

/** There is nothing to wait for here; so that the same code runs in browsers. */
export async function init() {}

setInstance("slim", slimGlue, slimGlue.initSync({ module: slimModule }));
setHost({ loadGeneral });

async function loadGeneral() {
  const { default: module } = await import("./general_bg.wasm");
  setInstance("general", generalGlue, generalGlue.initSync({ module }));
}
