/**
 * Load time and decode speed on Qwen3 beside `@huggingface/tokenizers`, the JavaScript peer, in one run.
 *
 *   make bench
 *
 * Load: a fresh process for each round, from the bytes of tokenizer.json to the first decoded text; what importing the
 * library costs is told apart. Decode: the texts are compared first; then rounds in turn, the median of each. A busy
 * machine slows both; the ratio is the number to read.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inTurn, median } from "./lib.mjs";

const TOKENIZER = new URL("../.cache/tokenizers/qwen3/tokenizer.json", import.meta.url);
const TRACE = new URL("../tests/fixtures/captures/verl-calls-qwen3/calls.jsonl", import.meta.url);
const LOAD_ROUNDS = 7;
const DECODE_ROUNDS = 21;

const LIBRARIES = {
  token2text: async () => {
    const { Tokenizer } = await import("../pkg/node.js");
    return (/** @type {Buffer} */ bytes) => {
      const tokenizer = Tokenizer.fromBytes(bytes);
      return (/** @type {any} */ ids) => tokenizer.decode(ids);
    };
  },
  "@huggingface/tokenizers": async () => {
    const { Tokenizer } = await import("@huggingface/tokenizers");
    return (/** @type {Buffer} */ bytes) => {
      const tokenizer = new Tokenizer(JSON.parse(bytes.toString()), { clean_up_tokenization_spaces: false });
      return (/** @type {any} */ ids) => tokenizer.decode(ids, { skip_special_tokens: false, clean_up_tokenization_spaces: false });
    };
  },
};

/** @typedef {keyof typeof LIBRARIES} Library */
const [OURS, PEER] = /** @type {Library[]} */ (Object.keys(LIBRARIES));

if (process.argv[2] === "load") await loadOnce(/** @type {Library} */ (process.argv[3]));
else {
  compareLoad();
  await compareDecode();
}

/** In a process of its own. @param {Library} library */
async function loadOnce(library) {
  const bytes = readFileSync(TOKENIZER);
  const start = performance.now();
  const load = await LIBRARIES[library]();
  const imported = performance.now();
  load(bytes)([9707]);
  console.log(JSON.stringify({ import: imported - start, load: performance.now() - imported }));
}

function compareLoad() {
  const self = fileURLToPath(import.meta.url);
  /** @type {Record<string, { import: number, load: number }[]>} */
  const rounds = { [OURS]: [], [PEER]: [] };
  for (let i = 0; i < LOAD_ROUNDS; i++) {
    for (const library of [OURS, PEER]) {
      rounds[library].push(JSON.parse(execFileSync(process.execPath, [self, "load", library], { encoding: "utf8" })));
    }
  }
  for (const what of /** @type {const} */ (["import", "load"])) {
    const [ours, peer] = [OURS, PEER].map((library) => median(rounds[library].map((round) => round[what])));
    report(`${what}, ms`, ours, peer);
  }
}

async function compareDecode() {
  const bytes = readFileSync(TOKENIZER);
  const ours = (await LIBRARIES[OURS]())(bytes);
  const peer = (await LIBRARIES[PEER]())(bytes);
  for (const [name, ids] of Object.entries(inputs())) {
    if (ours(ids) !== peer([...ids])) throw new Error(`${name}: the texts differ, nothing to compare`);
    const repeats = Math.max(1, Math.round(65_536 / ids.length));
    const list = [...ids];
    const times = inTurn({ ours: () => ours(ids), peer: () => peer(list) }, { rounds: DECODE_ROUNDS, repeats, warmUp: 0 });
    report(`decode ${name}, us`, times.ours * 1000, times.peer * 1000);
  }
}

/** Ids of recorded rollouts: one turn, a whole trajectory, and 32,768 in a row. @returns {Record<string, Uint32Array>} */
function inputs() {
  const records = readFileSync(TRACE, "utf8").trim().split("\n").map((line) => JSON.parse(line));
  const turns = records.flatMap(({ outputs }) => (outputs.token_ids ? [outputs.token_ids] : []));
  const all = turns.flat();
  const long = Uint32Array.from({ length: 32_768 }, (_, i) => all[i % all.length]);
  return { "12 ids": long.slice(0, 12), [`${turns[0].length} ids`]: Uint32Array.from(turns[0]), "32768 ids": long };
}

/** @param {string} what @param {number} ours @param {number} peer */
function report(what, ours, peer) {
  const cells = [`${OURS} ${ours.toFixed(1)}`, `${PEER} ${peer.toFixed(1)}`, `ratio ${(peer / ours).toFixed(1)}`];
  console.log(`${what.padEnd(20)} ${cells.join("   ")}`);
}
