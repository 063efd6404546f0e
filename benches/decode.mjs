/**
 * Decoding and loading beside every peer: the same ids, texts compared with the reference before anything is timed, all in turn.
 *
 *   make bench
 *   node benches/decode.mjs [decode | load | browser] [part of the names of tokenizers] [--quick] [--runs N]
 *
 * A whole run writes benches/DECODE.md; a part of one is printed. With `--runs` the figures are the medians of so many whole runs,
 * which is what targets are decided on. Node and Python are timed by their processor time, so that other programs on the machine
 * disturb less; ratios are the numbers to read.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { ROOT, step } from "../scripts/lib.js";
import { inBrowser } from "./decode/browser.mjs";
import { makeInputs, python } from "./decode/inputs.mjs";
import { contestIn, keysOf, loadsOf } from "./decode/processes.mjs";
import { buildReference } from "./decode/reference.mjs";
import { report, versions } from "./decode/report.mjs";
import { sizes } from "./decode/sizes.mjs";

/** @typedef {import("./decode/report.mjs").Run} Run */

const words = process.argv.slice(2);
const isQuick = words.includes("--quick");
const runs = words.includes("--runs") ? Number(words[words.indexOf("--runs") + 1]) : 1;
const [only, part] = words.filter((word, i) => !word.startsWith("--") && words[i - 1] !== "--runs");
const PARTS = ["decode", "load", "browser"];
const wants = new Set(only ? [only] : PARTS);
if (only && !PARTS.includes(only)) throw new Error(`there is no part ${only}: ${PARTS.join(", ")}`);

const contest = isQuick ? { rounds: 5, leastMs: 3, mostIds: 4096 } : { rounds: 11, leastMs: 10, mostIds: Infinity };
// The clock of a browser is coarse.
const inPages = { ...contest, leastMs: isQuick ? 5 : 10 };
const loadRounds = isQuick ? 1 : 7;
const keys = keysOf(part ?? "");
const keysInPages = isQuick ? keys.slice(0, 1) : keys;

buildReference();
await makeInputs();
const load = loadavg();
/** @type {Run[]} */
const results = [];
let browser = "";
for (let i = 0; i < runs; i++) await run(i);
if (only || part) console.log(written());

/** Adds to the results, and writes down what there is after each tokenizer: a whole run takes long. @param {number} number */
async function run(number) {
  /** @type {Run} */
  const result = { node: { decode: [], load: [] } };
  results.push(result);
  for (const key of keys) {
    step(`run ${number + 1} of ${runs}: ${key}`);
    if (wants.has("decode")) result.node.decode.push(...contestIn(key, contest));
    if (wants.has("load")) result.node.load.push(...loadsOf(key, loadRounds));
    writeDown();
  }
  if (!wants.has("browser")) return;
  step(`run ${number + 1} of ${runs}: in Chromium`);
  const { version, ...figures } = await inBrowser(keysInPages, { contest: inPages, loadRounds, log: console.error });
  browser = version;
  result.browser = figures;
  writeDown();
}

function writeDown() {
  if (!only && !part) writeFileSync(join(ROOT, "benches/DECODE.md"), written());
}

function written() {
  return report(results, { header: header(), sizes: sizes(), browser });
}

/** What was measured with what. */
function header() {
  const { node, v8 } = process.versions;
  const requirements = readFileSync(join(ROOT, "benches/requirements.txt"), "utf8").trim().split("\n").join(", ").replaceAll("==", " ");
  const installed = (/** @type {string} */ name) => JSON.parse(readFileSync(join(ROOT, "benches/package-lock.json"), "utf8")).packages[`node_modules/${name}`].version;
  const pythonVersion = execFileSync(python(), ["--version"], { encoding: "utf8" }).trim();
  const machine = `${cpus()[0].model.trim()}, ${cpus().length} cores, ${load[0].toFixed(1)} programs waiting for them at the start`;
  return [
    "# Results of `make bench`: decoding and loading",
    "Written by `node benches/decode.mjs`" + (isQuick ? " with `--quick`: read no decision from it." : runs > 1 ? `: medians of ${runs} runs.` : ", one run."),
    `Node ${node}, V8 ${v8}, ${process.platform} ${process.arch}; ${pythonVersion}; ${machine}.`,
    `Peers: ${versions(installed)}; the crate tokenizers 0.23.2 as WebAssembly; in Python ${requirements}.`,
    "Ids are made by Python `tokenizers` of two texts: English prose, and pieces of prose, code, JSON and seven more languages in " +
      "turn; a special token after every 400. Texts are compared with what it decodes them to. One string of each text is read, so that what was only strung together is joined.",
  ];
}
