/** What is in the package, and that a fresh project can use it in every way it promises. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { byteLevel } from "./support/tokenizers.js";

const PKG = fileURLToPath(new URL("../../pkg", import.meta.url));
const TSC = fileURLToPath(new URL("../../node_modules/typescript/bin/tsc", import.meta.url));
const project = mkdtempSync(join(tmpdir(), "token2text-"));
after(() => rmSync(project, { recursive: true }));

/** @type {{ filename: string, files: { path: string }[] }} */
let packed;
before(() => {
  [packed] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", project, PKG]));
  write("package.json", JSON.stringify({ private: true, type: "module" }));
  write("tokenizer.json", JSON.stringify(byteLevel()));
  run("npm", ["install", "--no-audit", "--no-fund", `./${packed.filename}`]);
});

/** @param {string} program @param {string[]} args */
function run(program, args) {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: project, encoding: "utf8" });
  assert.equal(status, 0, `${program} ${args.join(" ")}\n${stdout}${stderr}`);
  return stdout;
}
/** @param {string} name @param {string} text */
function write(name, text) {
  writeFileSync(join(project, name), text);
}

const USE = `const tokenizer = await t2t.Tokenizer.load("tokenizer.json");
  const { span } = new t2t.Enricher(tokenizer).enrich({ output: { response_ids: [72, 105] } });
  console.log(span.output.response_text, tokenizer.decode([72]), Object.keys(t2t).sort().join(" "));`;
const USED = "Hi H Enricher Token2TextError Tokenizer init strip\n";

test("the package has its files and nothing else", () => {
  const paths = packed.files.map(({ path }) => path);
  const needed = ["package.json", "README.md", "LICENSE", "index.js", "node.js", "index.d.ts", "slim.js", "slim_bg.wasm", "general.js", "general_bg.wasm", "wasm.d.ts", "bin/token2text.js"];
  for (const path of needed) assert.ok(paths.includes(path), path);
  for (const path of paths) assert.match(path, /^[\w-]+\.(js|d\.ts|wasm)$|^(cli|bin)\/[\w-]+\.js$|^package\.json$|^README\.md$|^LICENSE$/);
});

test("package.json names only files that exist, and no dependency", () => {
  const manifest = JSON.parse(readFileSync(join(PKG, "package.json"), "utf8"));
  const paths = packed.files.map(({ path }) => `./${path}`);
  const named = JSON.stringify([manifest.exports, manifest.bin, manifest.types, manifest.sideEffects]).match(/"\.\/[^"]+\.\w+"/g) ?? [];
  assert.ok(named.length > 8);
  for (const path of named) assert.ok(paths.includes(JSON.parse(path)) || path === '"./package.json"', path);
  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.scripts, undefined);
});

test("versions agree", () => {
  const cargo = readFileSync(new URL("../../Cargo.toml", import.meta.url), "utf8");
  assert.equal(JSON.parse(readFileSync(join(PKG, "package.json"), "utf8")).version, cargo.match(/^version = "(.*)"$/m)?.[1]);
});

test("import", () => {
  write("use.mjs", `import * as t2t from "token2text"; ${USE}`);
  assert.equal(run("node", ["use.mjs"]), USED);
});

test("require", () => {
  write("use.cjs", `const { ...t2t } = require("token2text"); delete t2t.__esModule; (async () => { ${USE} })();`);
  assert.equal(run("node", ["use.cjs"]), USED);
});

test("the command of a fresh project", () => {
  write("calls.jsonl", '{"output":{"response_ids":[72,105]}}\n');
  const command = join(project, "node_modules/.bin/token2text");
  assert.equal(
    run(command, ["enrich", "calls.jsonl", "-t", "tokenizer.json", "--report", "none"]),
    '{"output":{"response_text":"Hi","response_ids":[72,105]}}\n',
  );
});

test("only the public paths can be imported", () => {
  const probe = (/** @type {string} */ path) => run("node", ["-e", `import(${JSON.stringify(path)}).then(() => console.log("ok"), (e) => console.log(e.code))`]);
  assert.equal(probe("token2text/tokenizer.js"), "ERR_PACKAGE_PATH_NOT_EXPORTED\n");
  const resolve = (/** @type {string} */ path) => run("node", ["--input-type=module", "-e", `console.log(import.meta.resolve(${JSON.stringify(path)}))`]);
  for (const path of ["slim_bg.wasm", "general_bg.wasm", "package.json"]) assert.match(resolve(`token2text/${path}`), new RegExp(`${path}\n$`));
});

test("the types work for a TypeScript user, strictly", () => {
  write(
    "use.ts",
    `import { Enricher, Token2TextError, Tokenizer, init, strip, type Layout, type LoadOptions, type Report, type TokenizerInfo } from "token2text";
import slim from "token2text/slim_bg.wasm";
const options: LoadOptions = { compat: "transformers5", hash: "", onProgress: ({ loaded, total }) => loaded / (total ?? 1) };
const layout: Layout = { name: "mine", when: ["/a"], fields: [{ kind: "prompt", ids: ["/a"], text: "/b" }] };
export async function use(file: Blob): Promise<string> {
  await init(slim);
  using tokenizer: Tokenizer = await Tokenizer.load(file, options);
  const info: TokenizerInfo = tokenizer.info;
  const enricher = new Enricher({ "Qwen/*": tokenizer }, { layouts: ["verl", layout], existing: "replace", limits: { depth: 5 } });
  const { body, report }: { body: Uint8Array; report: Report } = enricher.enrichBody(new Uint8Array());
  const { span } = enricher.enrich({ output: { a: 1 } });
  const text: string = tokenizer.decode(BigInt64Array.of(1n), { skipSpecialTokens: true }) + tokenizer.decodeBatch([[1], Uint32Array.of(1)])[0];
  if (report.fields[0].status === "skipped") throw new Token2TextError("x", info.decoder);
  return text + strip(body).length + span.output.a + report.totals.decoded;
}
// @ts-expect-error a string is no list of ids
export const wrong = (tokenizer: Tokenizer) => tokenizer.decode("abc");
// @ts-expect-error a tokenizer is loaded, not made
export const made = () => new Tokenizer();
`,
  );
  for (const resolution of ["nodenext", "bundler"]) {
    const module = resolution === "bundler" ? "esnext" : resolution;
    const flags = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom,esnext.disposable"];
    run("node", [TSC, ...flags, "--module", module, "--moduleResolution", resolution, "use.ts"]);
  }
});
