/** The entry for Node: ready on import, both modules read from the files of this package. */
import { createReadStream, readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { setHost, setInstance } from "./engines.js";
import * as generalGlue from "./general.js";
import * as slimGlue from "./slim.js";

export { Token2TextError } from "./errors.js";
export { Enricher, strip } from "./enricher.js";
export { Tokenizer } from "./tokenizer.js";

/** There is nothing to wait for in Node; here so that the same code runs in browsers. */
export async function init() {}

const CHUNK = 1 << 20;

setInstance("slim", slimGlue, slimGlue.initSync({ module: readFileSync(new URL("./slim_bg.wasm", import.meta.url)) }));
setHost({ loadGeneral: async () => loadGeneralSync(), loadGeneralSync, openFile });

function loadGeneralSync() {
  const module = readFileSync(new URL("./general_bg.wasm", import.meta.url));
  setInstance("general", generalGlue, generalGlue.initSync({ module }));
}

/**
 * A string without a scheme is a path. One letter and a colon is a Windows drive.
 *
 * @param {string | URL} source
 */
function openFile(source) {
  if (!/^file:/i.test(String(source))) {
    if (source instanceof URL || /^[a-z][a-z0-9+.-]+:/i.test(source)) return undefined;
  }
  return readPath(/^file:/i.test(String(source)) ? fileURLToPath(source) : String(source));
}

/** @param {string} path */
async function readPath(path) {
  const { size } = await stat(path);
  return { chunks: createReadStream(path, { highWaterMark: CHUNK }), total: size || undefined, name: path };
}
