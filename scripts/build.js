/**
 * Builds the npm package into pkg/: four WebAssembly modules of one crate, their glue, our own files, types, and the viewer.
 *
 *   node scripts/build.js
 *   node scripts/build.js --check-size    fails if a module of pkg/, or what the viewer's page fetches, is larger than its limit
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { MOST_TRANSFERRED, buildViewer, transferred } from "./build-viewer.js";
import { ROOT, fail, repository, run, step } from "./lib.js";
import { buildSample } from "./sample.js";

/**
 * `inline`: what the inline form holds. That of a module which is loaded later can be compressed, since it is read asynchronously
 * anyway. `maxBrotli`: most bytes in brotli, of what is loaded often.
 *
 * @typedef {{ features: string[], inline: (bytes: Buffer) => Buffer, maxBrotli?: number }} Flavour
 */
const gzip = (/** @type {Buffer} */ bytes) => gzipSync(bytes, { level: 9 });
/** @type {Record<string, Flavour>} */
const FLAVOURS = {
  slim: { features: ["--no-default-features"], inline: (bytes) => bytes, maxBrotli: 110_000 },
  general: { features: [], inline: gzip },
  reader: { features: ["--no-default-features", "--features", "reader"], inline: gzip },
  spans: { features: ["--no-default-features", "--features", "spans"], inline: gzip, maxBrotli: 230_000 },
};
/** For size alone nothing is inlined, not even an index; with this the smallest functions are. A module without a limit may be large. */
const INLINE = "-Cllvm-args=-inline-threshold=10";
/** Sixteen bytes a step (`src/json/bytes/block.rs`). */
const SIMD = "-Ctarget-feature=+simd128";
/**
 * Nothing has an address below 1024, where the stack would end, so that an addition to an address can go into the load. The sections
 * that say what made the module are for tools.
 */
const OPTIMISE = ["--enable-simd", "--low-memory-unused", "-O3", "--strip-target-features", "--strip-producers"];
/**
 * For a module with a limit, besides, which takes three times as long: functions that are called once stay functions, since put into their
 * caller they compress worse; control flow that is taken apart and put together anew is smaller, with what that lets be found after
 * it; and so are functions that differ only in constants once they are one.
 */
const SHRINK = ["--one-caller-inline-max-function-size", "0", "--flatten", "--rereloop", "-O3", "-O3", "--merge-similar-functions", "-O3"];
const GLUE = join(ROOT, "target/glue");
const PKG = join(ROOT, "pkg");

if (process.argv.includes("--check-size")) checkSize();
else await build();

async function build() {
  mkdirSync(GLUE, { recursive: true });
  for (const [name, flavour] of Object.entries(FLAVOURS)) buildFlavour(name, flavour);
  assemble();
  run("npx", ["--no-install", "tsc", "-p", "tsconfig.package.json"]);
  step("the viewer");
  await buildSample();
  buildViewer();
  reportSizes();
}

/** @param {string} name @param {Flavour} flavour */
function buildFlavour(name, { features, inline, maxBrotli }) {
  // What is not loaded often, or has much to do, is built for speed.
  const profile = maxBrotli ? "wasm" : "wasm-fast";
  // Those of one profile share what they are made of. They have the same file name too, so that each is bound before the next is built.
  const target = join(ROOT, "target/modules");
  step(`compiling ${name}`);
  const build = ["build", "--profile", profile, "--locked", "--lib", "--target", "wasm32-unknown-unknown", "--target-dir", target];
  // Messages of a panic hold paths of sources: not those of the machine that built the module. The last that fits counts.
  const library = join(execFileSync("rustc", ["--print", "sysroot"], { encoding: "utf8" }).trim(), "lib/rustlib/src/rust/library");
  const remap = [ROOT, homedir(), library].map((path) => `--remap-path-prefix=${path}=`);
  run("cargo", [...build, ...features], { env: { CARGO_ENCODED_RUSTFLAGS: [...remap, ...(maxBrotli ? [INLINE] : []), SIMD].join("\x1f") } });
  const wasm = join(target, `wasm32-unknown-unknown/${profile}/token2text.wasm`);
  const stamp = join(target, `${name}.sha256`);
  // This file too: it says how the module is optimised.
  const digest = createHash("sha256").update(readFileSync(wasm)).update(readFileSync(new URL(import.meta.url))).digest("hex");
  const output = join(GLUE, `${name}_bg.wasm`);
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  step(`binding and optimising ${name}`);
  run("wasm-bindgen", ["--target", "web", "--omit-default-module-path", "--out-dir", GLUE, "--out-name", name, wasm]);
  run("npx", ["--no-install", "wasm-opt", ...OPTIMISE, ...(maxBrotli ? SHRINK : []), output, "-o", output]);
  numberImports(output, join(GLUE, `${name}.js`));
  writeFileSync(join(GLUE, `${name}_inline.js`), `export default "${inline(readFileSync(output)).toString("base64")}";\n`);
  writeFileSync(join(GLUE, `${name}_inline.d.ts`), "declare const base64: string;\nexport default base64;\n");
  writeFileSync(stamp, digest);
}

/**
 * The names of imports end in hashes, which do not compress: they become numbers of the same length, in the module and its glue.
 *
 * @param {string[]} paths
 */
function numberImports(...paths) {
  /** @type {Map<string, string>} */
  const numbers = new Map();
  const number = (/** @type {string} */ hash) => {
    if (!numbers.has(hash)) numbers.set(hash, String(numbers.size).padStart(hash.length, "0"));
    return /** @type {string} */ (numbers.get(hash));
  };
  // As Latin-1 every byte is a character, and comes back as it was.
  for (const path of paths) {
    writeFileSync(path, readFileSync(path, "latin1").replace(/(?<=__wbg_\w+_)[0-9a-f]{16}\b/g, number), "latin1");
  }
}

/** Everything but the types, which `tsc` adds. */
function assemble() {
  rmSync(PKG, { recursive: true, force: true });
  cpSync(join(ROOT, "pkg-template"), PKG, { recursive: true });
  cpSync(join(ROOT, "LICENSE"), join(PKG, "LICENSE"));
  for (const file of readdirSync(GLUE)) {
    if (!file.endsWith(".wasm.d.ts")) cpSync(join(GLUE, file), join(PKG, file));
  }
  nameRepository();
}

/** Leaves the manifest as it is written where no repository is known. */
function nameRepository() {
  const path = join(PKG, "package.json");
  const named = repository();
  if (named.repository) writeFileSync(path, `${JSON.stringify({ ...JSON.parse(readFileSync(path, "utf8")), ...named }, null, 2)}\n`);
}

function reportSizes() {
  step("sizes in bytes");
  printRow(["", "raw", "gzip", "brotli", "limit"]);
  for (const [name, { maxBrotli }] of Object.entries(FLAVOURS)) {
    const bytes = readFileSync(join(PKG, `${name}_bg.wasm`));
    printRow([`${name}_bg.wasm`, bytes.length, gzip(bytes).length, brotliSize(bytes), maxBrotli ?? ""]);
  }
  const files = transferred();
  for (const { file, gzip } of files.filter(({ file }) => file.startsWith("viewer"))) printRow([file, "", gzip]);
  step(`the viewer's page fetches ${files.length} files before files can be dropped: ${total(files)} bytes in gzip; the limit is ${MOST_TRANSFERRED}`);
}

/** @param {{ gzip: number }[]} files */
function total(files) {
  return files.reduce((sum, { gzip }) => sum + gzip, 0);
}

/** @param {(string | number)[]} cells */
function printRow(cells) {
  console.log(cells.map((cell, i) => (i === 0 ? String(cell).padEnd(18) : String(cell).padStart(10))).join(" "));
}

function checkSize() {
  reportSizes();
  for (const [name, { maxBrotli }] of Object.entries(FLAVOURS)) {
    const size = brotliSize(readFileSync(join(PKG, `${name}_bg.wasm`)));
    if (maxBrotli && size > maxBrotli) fail(`${name}_bg.wasm has ${size} bytes in brotli; the limit is ${maxBrotli}`);
  }
  if (total(transferred()) > MOST_TRANSFERRED) fail("the viewer's page fetches more than that");
}

/** @param {Buffer} bytes */
function brotliSize(bytes) {
  return brotliCompressSync(bytes).length;
}
