/**
 * Decoding and loading beside every peer: the same ids, all texts compared with the reference before anything is timed, everyone
 * in turn.
 *
 *   make bench BENCH="--runs 5"
 *   node benches/decode.mjs [decode | load | browser | native | sizes] [part of a tokenizer's name] [--quick] [--runs N] [--wall]
 *
 *   (no part)   a whole run, some six minutes on a quiet machine; writes the first half of benches/RESULTS.md
 *   a part      is printed; of the tokenizers of decode/paths.mjs only those that are named
 *   --quick     one fast pass: fewer rounds, no long lists, no sizes, Chromium and Rust with one tokenizer; is printed
 *   --runs N    the figures are the medians of so many whole runs, which is what targets are decided on
 *   --wall      Node and Python are timed by the clock on the wall, as on a quiet machine one may; otherwise by their processor
 *               time, so that other programs disturb less
 *
 * What is in benches/decode/:
 *
 *   inputs.py inputs.mjs paths.mjs   ids of pinned texts, and digests of what the reference makes of them
 *   peers.mjs python.py              who decodes, and how each is started, loads and decodes
 *   contest.mjs loads.mjs timing.mjs what is timed, in Node and in pages
 *   processes.mjs child.mjs          fresh processes of Node and Python; browser.mjs page.*: of pages; native.mjs: of Rust
 *   targets.mjs                      what the package promises; report.mjs tables.mjs sizes.mjs: what is written down
 *
 * Peers are pinned in package.json, requirements.txt, native/Cargo.toml, and tokenizers-wasm/Cargo.toml.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { ROOT, fail, step } from "../scripts/lib.js";
import { inBrowser } from "./decode/browser.mjs";
import { makeInputs, python } from "./decode/inputs.mjs";
import { buildNative, inRust } from "./decode/native.mjs";
import { CLOCK } from "./decode/node-host.mjs";
import { PEERS } from "./decode/peers.mjs";
import { contestIn, keysOf, loadsOf } from "./decode/processes.mjs";
import { buildReference } from "./decode/reference.mjs";
import { report } from "./decode/report.mjs";
import { measureSizes } from "./decode/sizes.mjs";

/** @typedef {import("./decode/report.mjs").Run} Run */

const PARTS = ["decode", "load", "browser", "native", "sizes"];
const RESULTS = join(ROOT, "benches/RESULTS.md");
/** Where the second half of the file begins, which benches/bodies.mjs is the source of. */
const BODIES = "# Results of `make bench`: enriching bodies";

const words = process.argv.slice(2);
const isQuick = words.includes("--quick");
const runs = words.includes("--runs") ? Number(words[words.indexOf("--runs") + 1]) : 1;
if (words.includes("--wall")) process.env[CLOCK] = "wall";
const [only, part = ""] = words.filter((word, i) => !word.startsWith("--") && words[i - 1] !== "--runs");
if (only && !PARTS.includes(only)) fail(`there is no part ${only}: ${PARTS.join(", ")}`);
if (!(runs >= 1)) fail("--runs takes a number");
const isWhole = !only && !isQuick;
const wants = new Set(only ? [only] : PARTS.filter((name) => !isQuick || name !== "sizes"));

const contest = isQuick ? { rounds: 3, leastMs: 3, mostIds: 4096 } : { rounds: 5, leastMs: 8, mostIds: null };
const inPages = { ...contest, rounds: 3 };
const loadRounds = isQuick ? 1 : 3;
const keys = keysOf(part);
if (keys.length === 0) fail(`no tokenizer is called ${part}`);
const fewKeys = isQuick ? keys.slice(0, 1) : keys;

buildReference();
if (wants.has("native")) buildNative();
await makeInputs();
const load = loadavg();
const sizes = wants.has("sizes") ? measureSizes() : [];
/** @type {Run[]} */
const results = [];
let browser = "";
try {
  for (let i = 1; i <= runs; i++) await run(`run ${i} of ${runs}`);
} finally {
  // Also what there was before something failed.
  if (!isWhole) console.log(written());
}

/** Adds to the results, and writes down what there is after each tokenizer: a whole run takes long. @param {string} name */
async function run(name) {
  /** @type {Run} */
  const result = { node: { decode: [], faults: [], load: [] } };
  results.push(result);
  for (const key of keys) {
    step(`${name}: ${key}`);
    if (wants.has("decode")) {
      const { decode, faults } = contestIn(key, contest);
      result.node.decode.push(...decode);
      result.node.faults.push(...faults);
    }
    if (wants.has("load")) result.node.load.push(...(await loadsOf(key, loadRounds)));
    writeDown();
  }
  if (wants.has("browser")) {
    step(`${name}: Chromium`);
    ({ version: browser, ...result.browser } = await inBrowser(fewKeys, { contest: inPages, loadRounds }));
    writeDown();
  }
  if (wants.has("native")) {
    step(`${name}: Rust`);
    result.native = await inRust(fewKeys);
    writeDown();
  }
}

function writeDown() {
  if (!isWhole) return;
  const bodies = readFileSync(RESULTS, "utf8").split(BODIES)[1] ?? "";
  writeFileSync(RESULTS, `${written()}\n${BODIES}${bodies}`);
}

function written() {
  return report(results, { header: header(), sizes, browser });
}

/** What was measured with what. */
function header() {
  const { node, v8 } = process.versions;
  const { packages } = JSON.parse(readFileSync(join(ROOT, "benches/package-lock.json"), "utf8"));
  const peers = PEERS.flatMap(({ package: name }) => (name ? `${name} ${packages[`node_modules/${name}`].version}` : [])).join(", ");
  const requirements = readFileSync(join(ROOT, "benches/requirements.txt"), "utf8").trim().split("\n").join(", ").replaceAll("==", " ");
  const crates = ["tokenizers", "kitoken", "criterion"].map((name) => `${name} ${versionOf(name)}`).join(", ");
  const pythonVersion = execFileSync(python(), ["--version"], { encoding: "utf8" }).trim();
  const clock = process.env[CLOCK] === "wall" ? "the clock on the wall" : "processor time of all threads";
  const times = runs > 1 ? `medians of ${runs} runs` : isQuick ? "one quick run, of which nothing is to be decided" : "one run";
  return [
    "# Results of `make bench`: decoding and loading",
    `Written by \`node benches/decode.mjs\`: ${times}. Node and Python by ${clock}; before, ${load[0].toFixed(1)} programs were at work.`,
    `- Node ${node}, V8 ${v8}, ${process.platform} ${process.arch}; ${pythonVersion}; ${cpus()[0].model.trim()}, ${cpus().length} cores\n` +
      `- npm: ${peers}\n- PyPI: ${requirements}\n- crates: ${crates}; tokenizers also as WebAssembly`,
    "Ids are made by Python `tokenizers` of two texts: English prose; and \"mixed\", documents of prose, code and six more languages " +
      "in turn. A special token stands after every 400. Texts are compared with what Python `tokenizers` decodes. One character of " +
      "each text is read, so that what was only strung together is joined.",
  ];
}

/** Of a crate in the lock file of the native bench. @param {string} name */
function versionOf(name) {
  const lock = readFileSync(join(ROOT, "benches/native/Cargo.lock"), "utf8");
  return new RegExp(`name = "${name}"\nversion = "(.*)"`).exec(lock)?.[1];
}
