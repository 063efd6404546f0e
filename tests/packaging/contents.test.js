/** What is in the package, and what of it can be reached. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { byteLevel } from "../js/support/tokenizers.js";
import { ROOT, freshProject, run } from "./support/project.js";

const project = freshProject();
const installed = join(project.folder, "node_modules/token2text");
const paths = readdirSync(installed, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
/** The subpaths, as users write them. @type {string[]} */
const entries = Object.keys(manifest.exports).map((subpath) => join("token2text", subpath));

/** The viewer's page, its list of files, and its sample. */
const VIEWER = ["viewer.html", "viewer.css", "viewer-files.json", "sample/README.md", "sample/rollouts.jsonl", "sample/tokenizer.t2t"];

test("the package has its files and nothing else", () => {
  const known = ["README.md", "LICENSE", "package.json", ...VIEWER];
  for (const path of [...known, "bin/token2text.js", "viewer.js", "viewer.d.ts", "viewer-engine.js"]) assert.ok(paths.includes(path), path);
  for (const path of paths.filter((path) => !known.includes(path))) assert.match(path, /^((exporters|rollout-trace)\/)?[\w-]+\.(js|d\.ts|wasm)$|^(cli|bin)\/[\w-]+\.js$/);
});

test("package.json names only files that exist, and no dependency", () => {
  const named = JSON.stringify([manifest.exports, manifest.bin, manifest.types, manifest.sideEffects]).match(/"\.\/[^"]+\.[^"./]+"/g) ?? [];
  assert.ok(named.length > entries.length);
  for (const path of named) assert.ok(paths.includes(JSON.parse(path).slice(2)) || path === '"./package.json"', path);
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.scripts, undefined);
});

test("every promised way in is there", () => {
  const promised = ["token2text", "token2text/cache", "token2text/inline", "token2text/rollout-trace", "token2text/viewer", "token2text/viewer-files", "token2text/worker", "token2text/worker-host"];
  const exporters = ["mlflow", "opentelemetry", "otlp", "trackio", "weave"].map((name) => `token2text/exporters/${name}`);
  const files = ["token2text/slim_bg.wasm", "token2text/general_bg.wasm", "token2text/reader_bg.wasm", "token2text/spans_bg.wasm", "token2text/package.json"];
  assert.deepEqual(entries.toSorted(), [...promised, ...exporters, ...files].toSorted());
});

test("every way in resolves, and nothing else", async () => {
  const resolve = `for (const entry of ${JSON.stringify(entries)}) console.log(import.meta.resolve(entry))`;
  const resolved = (await run(project, "node", ["--input-type=module", "-e", resolve])).trim().split("\n");
  assert.equal(new Set(resolved).size, entries.length);
  for (const url of resolved) assert.match(url, /^file:.*\/node_modules\/token2text\/(exporters\/)?[\w.-]+$/);
  const probe = 'import("token2text/tokenizer.js").catch((error) => console.log(error.code))';
  assert.equal(await run(project, "node", ["-e", probe]), "ERR_PACKAGE_PATH_NOT_EXPORTED\n");
});

test("no way in has a top-level await, which would break require() and classic workers", async () => {
  for (const path of paths.filter((path) => /^(exporters\/)?[\w-]+\.js$/.test(path))) {
    await run(project, "esbuild", [`node_modules/token2text/${path}`, "--format=cjs", "--log-level=error", "--outfile=checked/out.js"]);
  }
});

test("versions agree", () => {
  const cargo = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
  assert.equal(manifest.version, cargo.match(/^version = "(.*)"$/m)?.[1]);
});

test("the command of a fresh project", async () => {
  project.write({ "tokenizer.json": JSON.stringify(byteLevel()), "calls.jsonl": '{"output":{"response_ids":[72,105]}}\n' });
  const printed = await run(project, "token2text", ["enrich", "calls.jsonl", "-t", "tokenizer.json", "--report", "none"]);
  assert.equal(printed, '{"output":{"response_text":"Hi","response_ids":[72,105]}}\n');
});
