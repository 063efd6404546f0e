/**
 * Builds the npm package into pkg/: two WebAssembly modules of one crate, their glue, our own files, and types.
 *
 *   node scripts/build.js
 *   node scripts/build.js --check-size    fails if the slim module of pkg/ is too large
 */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { ROOT, fail, run, step } from "./lib.js";

const FLAVOURS = {
  slim: ["--no-default-features"],
  general: [],
};
const MAX_SLIM_BROTLI = 75_000;
const GLUE = join(ROOT, "target/glue");
const PKG = join(ROOT, "pkg");

if (process.argv.includes("--check-size")) checkSize();
else build();

function build() {
  mkdirSync(GLUE, { recursive: true });
  for (const [name, features] of Object.entries(FLAVOURS)) buildFlavour(name, features);
  assemble();
  run("npx", ["--no-install", "tsc", "-p", "tsconfig.package.json"]);
  reportSizes();
}

/** @param {string} name @param {string[]} features */
function buildFlavour(name, features) {
  // A folder each: both builds have the same file name.
  const target = join(ROOT, "target", `wasm-${name}`);
  step(`compiling ${name}`);
  const build = ["build", "--profile", "wasm", "--locked", "--lib", "--target", "wasm32-unknown-unknown", "--target-dir", target];
  // Messages of a panic hold paths of sources: not those of the machine that built the module.
  const remap = [ROOT, homedir()].map((path) => `--remap-path-prefix=${path}=`);
  run("cargo", [...build, ...features], { env: { CARGO_ENCODED_RUSTFLAGS: remap.join("\x1f") } });
  const wasm = join(target, "wasm32-unknown-unknown/wasm/token2text.wasm");
  const stamp = join(target, "bound.sha256");
  // This file too: it says how the module is optimised.
  const digest = createHash("sha256").update(readFileSync(wasm)).update(readFileSync(new URL(import.meta.url))).digest("hex");
  const output = join(GLUE, `${name}_bg.wasm`);
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  step(`binding and optimising ${name}`);
  run("wasm-bindgen", ["--target", "web", "--out-dir", GLUE, "--out-name", name, wasm]);
  // Functions that are called once stay functions: put into their caller they compress worse.
  run("npx", ["--no-install", "wasm-opt", "-O3", "--one-caller-inline-max-function-size", "0", output, "-o", output]);
  writeFileSync(stamp, digest);
}

/** Everything but the types, which `tsc` adds. */
function assemble() {
  rmSync(PKG, { recursive: true, force: true });
  cpSync(join(ROOT, "pkg-template"), PKG, { recursive: true });
  cpSync(join(ROOT, "LICENSE"), join(PKG, "LICENSE"));
  for (const file of readdirSync(GLUE)) {
    if (!file.endsWith(".wasm.d.ts")) cpSync(join(GLUE, file), join(PKG, file));
  }
}

function reportSizes() {
  step("sizes in bytes");
  printRow(["", "raw", "gzip", "brotli"]);
  for (const name of Object.keys(FLAVOURS)) {
    const bytes = readFileSync(join(PKG, `${name}_bg.wasm`));
    printRow([`${name}_bg.wasm`, bytes.length, gzipSync(bytes, { level: 9 }).length, brotliSize(bytes)]);
  }
}

/** @param {(string | number)[]} cells */
function printRow(cells) {
  console.log(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(16) : String(cell).padStart(10))).join(" "));
}

function checkSize() {
  const size = brotliSize(readFileSync(join(PKG, "slim_bg.wasm")));
  if (size > MAX_SLIM_BROTLI) fail(`slim_bg.wasm has ${size} bytes in brotli; the limit is ${MAX_SLIM_BROTLI}`);
}

/** @param {Buffer} bytes */
function brotliSize(bytes) {
  return brotliCompressSync(bytes).length;
}
