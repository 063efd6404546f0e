/** Builds the viewer of www/ into pkg/: the element, its worker, and the page that is nothing else. */
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { ROOT, run } from "./lib.js";

const PKG = join(ROOT, "pkg");
const WWW = join(ROOT, "www");
/** Bytes in gzip that a browser has fetched when files can be dropped, at most; WebAssembly is fetched later. */
export const MOST_TRANSFERRED = 150_000;
/** What the page asks for by itself; the worker is started by the page. */
const FIRST = ["viewer.html", "viewer.css", "viewer.js", "viewer-engine.js"];
/** Opened by a button. */
const SAMPLE = ["sample/tokenizer.t2t", "sample/rollouts.jsonl", "sample/README.md"];
/** How a module names what it cannot do without, and what it fetches later. */
const IMPORTED = /(?:^|[;}\s])(?:import|export)\b[^"'`()]*["'`](\.\.?\/[^"'`]+)["'`]/g;
const LATER = /(?:\bimport\(|new URL\()["'`](\.\.?\/[^"'`]+)["'`]/g;

/** Needs a pkg/ that is whole but for the viewer, with its sample. */
export function buildViewer() {
  run("npm", ["run", "--silent", "build", "--", "--logLevel", "warn"], { cwd: WWW });
  const built = readdirSync(join(WWW, "dist"));
  for (const file of built) cpSync(join(WWW, "dist", file), join(PKG, file));
  // They define elements: bundlers must not leave out what nothing is taken from.
  const manifest = JSON.parse(readFileSync(join(PKG, "package.json"), "utf8"));
  manifest.sideEffects.push(...built.map((file) => `./${file}`));
  writeFileSync(join(PKG, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(WWW, "index.html"), join(PKG, "viewer.html"));
  cpSync(join(WWW, "viewer.css"), join(PKG, "viewer.css"));
  writeFileSync(join(PKG, "viewer-files.json"), `${JSON.stringify([...reached([IMPORTED, LATER]), ...SAMPLE], null, 2)}\n`);
}

/**
 * The files of pkg/ that are fetched before files can be dropped, with their sizes in gzip.
 *
 * @returns {{ file: string, gzip: number }[]}
 */
export function transferred() {
  return reached([IMPORTED]).map((file) => ({ file, gzip: gzipSync(readFileSync(join(PKG, file)), { level: 9 }).length }));
}

/** The files that the page comes to by names of these forms. @param {RegExp[]} forms */
function reached(forms) {
  const files = new Set(FIRST);
  // A set that grows while it is walked.
  for (const file of files) {
    if (!file.endsWith(".js")) continue;
    // Types are named in comments.
    const source = readFileSync(join(PKG, file), "utf8").replace(/\/\*.*?\*\//gs, "");
    for (const form of forms) for (const [, path] of source.matchAll(form)) files.add(join(file, "..", path));
  }
  return [...files];
}
