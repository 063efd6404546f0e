/** Processes of their own: for every tokenizer one in which all decode in turn, and for every load a fresh one. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../scripts/lib.js";
import { python } from "./inputs.mjs";
import { waysOf } from "./loads.mjs";
import { INPUTS, TOKENIZERS, jsonPath } from "./paths.mjs";
import { summary } from "./timing.mjs";

/** @typedef {import("./contest.mjs").Outcome} Outcome */
/** @typedef {import("./loads.mjs").Once} Once */
/** Medians of fresh processes. @typedef {Once & { tokenizer: string, way: string }} Load */
/** Loads once. @typedef {() => Once | Promise<Once>} Loader */

const CHILD = join(ROOT, "benches/decode/child.mjs");
const PYTHON = join(ROOT, "benches/decode/python.py");
const PYTHON_LIBRARIES = ["tokenizers", "iree-tokenizer"];
// As JavaScript has one thread, so has everyone.
const ENVIRONMENT = { ...process.env, RAYON_NUM_THREADS: "1", TOKENIZERS_PARALLELISM: "false" };
/** Milliseconds: who takes longer to load a tokenizer twice is not asked again in the same run. */
const SLOW = 600;

/** @param {string} key @param {import("./contest.mjs").Options} options @returns {Outcome} */
export function contestIn(key, options) {
  /** @type {Outcome[]} */
  const outcomes = [answer(process.execPath, [CHILD, "contest", key, JSON.stringify(options)])];
  const given = [join(ROOT, INPUTS), join(ROOT, jsonPath(key)), key];
  const numbers = [options.rounds, options.leastMs, options.mostIds].map(String);
  for (const library of PYTHON_LIBRARIES) outcomes.push(answer(python(), [PYTHON, "contest", ...given, library, ...numbers]));
  return { decode: outcomes.flatMap(({ decode }) => decode), faults: outcomes.flatMap(({ faults }) => faults) };
}

/** @param {string} key @param {number} rounds @returns {Promise<Load[]>} */
export function loadsOf(key, rounds) {
  /** @type {[string, Loader][]} */
  const loaders = waysOf(key).map((way) => [way, () => answer(process.execPath, [CHILD, "load", key, way])]);
  for (const library of PYTHON_LIBRARIES) {
    loaders.push([`${library} (Python)`, () => answer(python(), [PYTHON, "load", join(ROOT, jsonPath(key)), library])]);
  }
  return mediansOf(key, loaders, rounds);
}

/** The loaders take turns. @param {string} key @param {[string, Loader][]} loaders @param {number} rounds @returns {Promise<Load[]>} */
export async function mediansOf(key, loaders, rounds) {
  const ways = loaders.map(([way, load]) => ({ way, load, times: /** @type {Once[]} */ ([]) }));
  for (let round = 0; round < rounds; round++) {
    for (const { load, times } of ways) {
      if (!times[0] || times[0].cold + times[0].warm < SLOW) times.push(await load());
    }
  }
  return ways.map(({ way, times }) => {
    const of = (/** @type {keyof Once} */ what) => times.flatMap((time) => time[what] ?? []);
    const grown = of("grown").length > 0 ? { grown: summary(of("grown")).ms } : {};
    return { tokenizer: key, way, cold: summary(of("cold")).ms, warm: summary(of("warm")).ms, ...grown };
  });
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
