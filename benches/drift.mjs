/**
 * What `tokenizer.drift(ids)` costs beside encoding the text of the ids: with the `tokenizers` crate as WebAssembly of its own,
 * and with this package's `encode`. All three run in turn in one process; the ids of both encoders are compared first.
 *
 *   make bench
 *   node benches/drift.mjs [part of a tokenizer's name] [--quick]
 *
 * The ids are those of chats in two dozen scripts, some 200 kB of text: as they are encoded, and with every 40th token spelled by
 * two, as a model may sample it. A busy machine slows all; ratios are to be read. Exits 1 if the median ratio beside the crate
 * is above 1.5.
 */
import { readFileSync } from "node:fs";
import { Tokenizer } from "../pkg/node.js";
import { ROOT, fail } from "../scripts/lib.js";
import { buildReference } from "./decode/reference.mjs";
import { inTurn, median, row } from "./lib.mjs";

/** Of each family: its key in .cache/tokenizers and the tokens that end a message. */
const TOKENIZERS = { qwen3: "<|im_end|>", llama3_1: "<|eot_id|>", gemma3: "<end_of_turn>", llama2: "</s>" };
const TARGET = 1.5;
const BYTES = 200_000;

const isQuick = process.argv.includes("--quick");
const [part = ""] = process.argv.slice(2).filter((word) => word !== "--quick");
const options = isQuick ? { rounds: 3, warmUp: 1 } : { rounds: 11, warmUp: 3 };

buildReference();
const crate = await import(new URL("../target/tokenizers-wasm/tokenizers_wasm.js", import.meta.url).href);
await crate.default({ module_or_path: readFileSync(`${ROOT}/target/tokenizers-wasm/tokenizers_wasm_bg.wasm`) });

/** Chats, each message ended by the token. @param {string} end */
function chats(end) {
  const lines = readFileSync(`${ROOT}/tests/oracle/corpus.txt`, "utf8").split("\n");
  let text = "";
  for (let i = 0; text.length < BYTES; i++) text += `${lines[i % lines.length]} ${lines[(7 * i + 3) % lines.length]}${end}\n`;
  return text;
}

/** The ids of the same text, every 40th token that can be spelled by others. @param {Tokenizer} tokenizer @param {Uint32Array} ids */
function sampled(tokenizer, ids) {
  const { text, ends } = tokenizer.pieces(ids);
  const out = [];
  for (let i = 0; i < ids.length; i++) {
    const word = text.slice(ends[i - 1] ?? 0, ends[i]);
    const halves = [word.slice(0, -2), word.slice(-2)].map((half) => [...tokenizer.encode(half, { addSpecialTokens: false })]);
    const isOther = i % 40 === 0 && /^ ?\p{L}{4,}$/u.test(word) && tokenizer.decode(halves.flat()) === word.trimStart();
    out.push(...(isOther ? halves.flat() : [ids[i]]));
  }
  return Uint32Array.from(out);
}

const ratios = [];
console.log(row(["tokenizer", "ids", "runs", "text, kB", "drift, ms", "crate's encode, ms", "ours, ms", "drift : crate", "drift : ours"]));
console.log(row(Array(9).fill("---")));
for (const [key, end] of Object.entries(TOKENIZERS).filter(([name]) => name.includes(part))) {
  const json = readFileSync(`${ROOT}/.cache/tokenizers/${key}/tokenizer.json`);
  const tokenizer = Tokenizer.fromBytes(json, { engine: "general" });
  const reference = new crate.Reference(json);
  const natural = tokenizer.encode(chats(end), { addSpecialTokens: false });
  for (const [name, ids] of Object.entries({ natural, sampled: sampled(tokenizer, natural) })) {
    const text = tokenizer.decode(ids);
    const expected = reference.encode(text);
    if (String(tokenizer.encode(text, { addSpecialTokens: false })) !== String(expected)) fail(`${key}: the encoders differ`);
    const { runCount, encodedTokens } = tokenizer.drift(ids);
    if (encodedTokens !== expected.length) fail(`${key}: drift encodes otherwise`);
    const times = inTurn(
      {
        drift: () => tokenizer.drift(ids),
        crate: () => reference.encode(text),
        ours: () => tokenizer.encode(text, { addSpecialTokens: false }),
      },
      options,
    );
    ratios.push(times.drift / times.crate);
    const shown = [times.drift, times.crate, times.ours, times.drift / times.crate, times.drift / times.ours].map((x) => x.toFixed(2));
    console.log(row([`${key}, ${name}`, ids.length, runCount, Math.round(Buffer.byteLength(text) / 1000), ...shown]));
  }
  tokenizer.free();
  reference.free();
}
const ratio = median(ratios);
console.log(`\ndrift beside the crate's encode: ${ratio.toFixed(2)} (median; at most ${TARGET})`);
process.exitCode = ratio <= TARGET ? 0 : 1;
