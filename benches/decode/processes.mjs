/** Processes of their own: for every tokenizer one in which all decode in turn, and for every load a fresh one. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../scripts/lib.js";
import { python } from "./inputs.mjs";
import { waysOf } from "./loads.mjs";
import { INPUTS, TOKENIZERS, jsonPath } from "./paths.mjs";
import { summary } from "./timing.mjs";

/** @typedef {import("./contest.mjs").Row} Row */
/** @typedef {import("./loads.mjs").Once} Once */
/** Medians of fresh processes. @typedef {Once & { tokenizer: string, way: string, spread: number }} Load */

const CHILD = join(ROOT, "benches/decode/child.mjs");
const PYTHON = join(ROOT, "benches/decode/python.py");
const PYTHON_LIBRARIES = ["tokenizers", "iree-tokenizer"];
// As JavaScript has one thread, so has everyone.
const ENVIRONMENT = { ...process.env, RAYON_NUM_THREADS: "1", TOKENIZERS_PARALLELISM: "false" };

/** @param {string} key @param {import("./contest.mjs").Options} options @returns {Row[]} */
export function contestIn(key, options) {
  const rows = answer(process.execPath, [CHILD, "contest", key, JSON.stringify(options)]);
  const given = [join(ROOT, INPUTS), join(ROOT, jsonPath(key)), key];
  const numbers = [options.rounds, options.leastMs, options.mostIds].map(String);
  for (const library of PYTHON_LIBRARIES) {
    rows.push(...answer(python(), [PYTHON, "contest", ...given, library, ...numbers]));
  }
  return rows;
}

/** The processes of all ways take turns. @param {string} key @param {number} rounds @returns {Load[]} */
export function loadsOf(key, rounds) {
  /** @type {[string, () => Once][]} */
  const tasks = waysOf(key).map((way) => [way, () => answer(process.execPath, [CHILD, "load", key, way])]);
  for (const library of PYTHON_LIBRARIES) {
    tasks.push([`${library} (Python)`, () => answer(python(), [PYTHON, "load", join(ROOT, jsonPath(key)), library])]);
  }
  /** @type {Map<string, Once[]>} */
  const results = new Map(tasks.map(([way]) => [way, []]));
  for (let round = 0; round < rounds; round++) for (const [way, task] of tasks) results.get(way)?.push(task());
  return [...results].map(([way, times]) => medians(key, way, times));
}

/** @param {string} key @param {string} way @param {Once[]} times @returns {Load} */
export function medians(key, way, times) {
  const of = (/** @type {keyof Once} */ what) => times.flatMap((time) => time[what] ?? []);
  const grown = of("grown").length > 0 ? { grown: summary(of("grown")).ms } : {};
  const { ms: cold, spread } = summary(of("cold"));
  return { tokenizer: key, way, cold, spread, wall: summary(of("wall")).ms, warm: summary(of("warm")).ms, ...grown };
}

/** @param {string} program @param {string[]} args */
function answer(program, args) {
  const options = /** @type {const} */ ({ encoding: "utf8", env: ENVIRONMENT, maxBuffer: 1 << 26 });
  return JSON.parse(execFileSync(program, args, { ...options, stdio: ["ignore", "pipe", "inherit"] }));
}

/** Those that are measured. @param {string} part Of the key or name of a tokenizer. */
export function keysOf(part) {
  return Object.keys(TOKENIZERS).filter((key) => `${key} ${TOKENIZERS[key].name}`.toLowerCase().includes(part.toLowerCase()));
}
