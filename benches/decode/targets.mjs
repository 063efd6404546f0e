/** What the package promises of decoding and loading: figures of one run, and how far they must go. */
import { TEXT_DECODER } from "./contest.mjs";
import { JSON_PARSE, PACKED, STREAMED } from "./loads.mjs";
import { TOKENIZERS } from "./paths.mjs";
import { HUGGING_FACE, OURS, REFERENCE_WASM } from "./peers.mjs";

/** @typedef {import("./contest.mjs").Row} Row */
/** @typedef {import("./processes.mjs").Load} Load */
/** @typedef {{ decode: Row[], load: Load[] }} Figures Of report.mjs, those that matter here. */
/**
 * @typedef {object} Target
 * @property {string} what
 * @property {number} must
 * @property {number} strive
 * @property {string} unit
 * @property {boolean} [atMost] Less is better.
 * @property {(figures: Figures) => number | undefined} is Undefined where there is nothing to compare.
 */

const PYTHON = "tokenizers (Python)";

/** @type {Target[]} */
export const TARGETS = [
  fasterThan(HUGGING_FACE, "qwen2_5", "mixed", 35, 43),
  fasterThan(HUGGING_FACE, "qwen2_5", "English", 70, 95),
  fasterThan(HUGGING_FACE, "gemma3", "mixed", 15, 20),
  fasterThan(HUGGING_FACE, "gemma3", "English", 22, 28),
  fasterThan(HUGGING_FACE, "llama3_1", "mixed", 80, 110),
  fasterThan(HUGGING_FACE, "llama3_1", "English", 150, 240),
  leastLead("4,096 ids", [REFERENCE_WASM], ["4096"], 20, 25),
  leastLead("4,096 ids", [PYTHON], ["4096"], 20, 25),
  leastLead("4,096 ids", ["kitoken (wasm)"], ["4096"], 3, 3.5),
  leastLead("32 ids", [HUGGING_FACE], ["32"], 8, 10),
  leastLead("1 and 8 ids", ["gpt-tokenizer", "ai-tokenizer"], ["1", "8"], 0.9, 1.2),
  overTextDecoder("mixed", 1.9, 1.4),
  overTextDecoder("English", 6, 4),
  {
    what: `load, cold, over ${JSON_PARSE} of the file; the worst tokenizer`,
    must: 0.15,
    strive: 0.08,
    unit: "x",
    atMost: true,
    is: ({ load }) => most(loadRatios(load, OURS, JSON_PARSE).map((ratio) => 1 / ratio)),
  },
  loadsFaster("load, cold", OURS, HUGGING_FACE, 25, 40),
  loadsFaster("load, cold", OURS, REFERENCE_WASM, 20, 25),
  loadsFaster("load, cold", OURS, PYTHON, 12, 16),
  loadsFaster("packed load, cold", PACKED, HUGGING_FACE, 70, 120),
  {
    what: "peak memory growth, Gemma 3, streamed",
    must: 25,
    strive: 12,
    unit: " MB",
    atMost: true,
    is: ({ load }) => load.find(({ tokenizer, way }) => tokenizer === "gemma3" && way === STREAMED)?.grown,
  },
];

/** @param {string} peer @param {string} key @param {string} text @param {number} must @param {number} strive @returns {Target} */
function fasterThan(peer, key, text, must, strive) {
  const what = `decode 4,096 ids, ${peer}, ${TOKENIZERS[key].name}, ${text}`;
  const is = (/** @type {Figures} */ { decode }) => {
    const wanted = decode.filter(({ tokenizer, corpus, size }) => tokenizer === key && corpus === text && size === "4096");
    return least(leads(wanted, [peer]));
  };
  return { what, must, strive, unit: "x", is };
}

/** @param {string} what @param {string[]} peers @param {string[]} sizes @param {number} must @param {number} strive @returns {Target} */
function leastLead(what, peers, sizes, must, strive) {
  const is = (/** @type {Figures} */ { decode }) => least(leads(decode.filter(({ size }) => sizes.includes(size)), peers));
  return { what: `decode ${what}, ${peers.join(" and ")}; the least`, must, strive, unit: "x", is };
}

/** @param {string} text @param {number} must @param {number} strive @returns {Target} */
function overTextDecoder(text, must, strive) {
  const is = (/** @type {Figures} */ { decode }) => {
    const wanted = decode.filter(({ tokenizer, corpus, size }) => tokenizer === "qwen2_5" && corpus === text && size === "4096");
    return most(leads(wanted, [TEXT_DECODER]).map((ratio) => 1 / ratio));
  };
  return { what: `decode 4,096 ids over ${TEXT_DECODER}, ${TOKENIZERS.qwen2_5.name}, ${text}`, must, strive, unit: "x", atMost: true, is };
}

/** @param {string} what @param {string} ours @param {string} peer @param {number} must @param {number} strive @returns {Target} */
function loadsFaster(what, ours, peer, must, strive) {
  const is = (/** @type {Figures} */ { load }) => least(loadRatios(load, ours, peer));
  return { what: `${what}, ${peer}; the least`, must, strive, unit: "x", is };
}

/** The times of peers over ours, of those that give another text too. @param {Row[]} rows @param {string[]} peers */
function leads(rows, peers) {
  return rows.filter(({ peer }) => peers.includes(peer)).flatMap((row) => ratioToOurs(rows, row) ?? []);
}

/** How many times as long as ours it takes; 0 where ours gives another text. @param {Row[]} rows @param {Row} row @returns {number | undefined} */
export function ratioToOurs(rows, { tokenizer, corpus, size, us }) {
  const ours = rows.find((row) => row.peer === OURS && row.tokenizer === tokenizer && row.corpus === corpus && row.size === size);
  return ours && (ours.isRight ? us / ours.us : 0);
}

/** @param {Load[]} load @param {string} ours @param {string} peer */
function loadRatios(load, ours, peer) {
  const of = (/** @type {string} */ wanted) => load.filter(({ way }) => way === wanted);
  return of(peer).flatMap(({ tokenizer, cold }) => {
    const own = of(ours).find((row) => row.tokenizer === tokenizer);
    return own ? [cold / own.cold] : [];
  });
}

/** @param {number[]} numbers */
function least(numbers) {
  return numbers.length > 0 ? Math.min(...numbers) : undefined;
}

/** @param {number[]} numbers */
function most(numbers) {
  return numbers.length > 0 ? Math.max(...numbers) : undefined;
}
