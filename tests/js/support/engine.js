/** Modules of the viewer's engine, which is TypeScript for browsers, in Node. */
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const WWW = fileURLToPath(new URL("../../../www/", import.meta.url));
const PKG = new URL("../../../pkg/", import.meta.url);

/**
 * Imports a module of www/src/engine, bundled by what builds the viewer.
 *
 * @param {string} name `indent`
 * @returns {Promise<any>}
 */
export async function engineModule(name) {
  const { rolldown } = await import(pathToFileURL(createRequire(join(WWW, "package.json")).resolve("rolldown")).href);
  const bundle = await rolldown({ input: join(WWW, `src/engine/${name}.ts`), external: /^token2text/, platform: "node" });
  const folder = mkdtempSync(join(tmpdir(), "token2text-"));
  try {
    const file = join(folder, `${name}.mjs`);
    const paths = (/** @type {string} */ id) => new URL(id.replace(/^token2text$/, "token2text/node").replace(/^token2text\/(.*)$/, "$1.js"), PKG).href;
    await bundle.write({ file, format: "esm", paths, codeSplitting: false });
    return await import(pathToFileURL(file).href);
  } finally {
    await bundle.close();
    rmSync(folder, { recursive: true });
  }
}
