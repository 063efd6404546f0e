/**
 * The sample of the viewer's page, "Try it": a tokenizer, and rollouts as verl traces them, with made-up texts and numbers.
 *
 *   node scripts/sample.js            writes pkg-template/sample/rollouts.jsonl anew
 *   node scripts/sample.js --check    fails if another stands there
 */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { fetchTokenizer } from "./fetch-tokenizer.js";
import { ROOT, fail } from "./lib.js";
import { SAMPLES, STEP } from "./sample-texts.js";

const ROLLOUTS = join(ROOT, "pkg-template/sample/rollouts.jsonl");
/** GPT-2 knows no conversations: as those do who tune it, it gets the tokens of ChatML. */
const ADDED = ["<|im_start|>", "<|im_end|>", "<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>"];
/** Of those the ones that no text has. */
const SPECIAL = ["<|im_start|>", "<|im_end|>"];
/** 2026-11-30, 08:00 UTC, in milliseconds. */
const BEGIN = Date.UTC(2026, 10, 30, 8);

/** The tokenizer.json of the sample. @returns {Buffer} */
function tokenizerJson() {
  const tokenizer = JSON.parse(readFileSync(join(fetchTokenizer("gpt2"), "tokenizer.json"), "utf8"));
  const first = Math.max(...Object.values(tokenizer.model.vocab)) + 1;
  const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  tokenizer.added_tokens.push(...ADDED.map((content, i) => ({ id: first + i, content, ...plain, special: SPECIAL.includes(content) })));
  return Buffer.from(JSON.stringify(tokenizer));
}

/** Puts the tokenizer, packed, into a pkg/ that is whole but for the viewer. */
export async function buildSample() {
  const { Tokenizer } = await import(pathToFileURL(join(ROOT, "pkg/node.js")).href);
  const folder = join(ROOT, "pkg/sample");
  mkdirSync(folder, { recursive: true });
  const json = tokenizerJson();
  const tokenizer = await Tokenizer.load(json, { hash: createHash("sha256").update(json).digest("hex") });
  writeFileSync(join(folder, "tokenizer.t2t"), tokenizer.pack());
}

/** @typedef {import("./sample-texts.js").Sample} Sample */
/** @typedef {import("./sample-texts.js").SampleRollout} SampleRollout */
/** @typedef {(text: string) => number[]} Encode */

/** All rollouts as JSON lines. @param {Encode} encode */
function jsonLines(encode) {
  const lines = SAMPLES.flatMap((sample, index) => sample.rollouts.flatMap((rollout, n) => records(sample, index, rollout, n, encode)));
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/**
 * The spans of a rollout: its loop, the calls of the model, and the tools between them.
 *
 * @param {Sample} sample
 * @param {number} index
 * @param {SampleRollout} rollout
 * @param {number} n
 * @param {Encode} encode
 */
function records(sample, index, rollout, n, encode) {
  const random = randomOf(1000 * index + n);
  const traceId = (0x5a3b1e0000 + 256 * index + n).toString(16).padStart(32, "0");
  const rewards = sample.rollouts.map(({ reward }) => reward);
  const mean = rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
  const deviation = Math.sqrt(rewards.reduce((sum, reward) => sum + (reward - mean) ** 2, 0) / rewards.length);
  const advantage = round((rollout.reward - mean) / (deviation + 1e-6));
  const attributes = { step: STEP, sample_index: index, rollout_n: n, validate: false, experiment_name: "sample" };
  let time = BEGIN + 60_000 * index + 150 * n;
  const loopStart = time;
  let id = 1;
  const span = (/** @type {string} */ name, /** @type {number} */ millis, /** @type {object} */ content) => {
    const times = { start_time_unix_nano: `${time}000000`, end_time_unix_nano: `${time + millis}000000` };
    time += millis + 4;
    return { trace_id: traceId, id: (++id).toString(16).padStart(16, "0"), parent_id: "1".padStart(16, "0"), name, ...times, ...content, attributes };
  };
  const all = [];
  let prompt = encode(`<|im_start|>system\n${sample.system}<|im_end|>\n<|im_start|>user\n${sample.question}<|im_end|>\n<|im_start|>assistant\n`);
  for (const [turn, { text, tool, result, rewrite }] of rollout.turns.entries()) {
    const response = [...encode(text), ...encode("<|im_end|>")];
    const isLast = turn === rollout.turns.length - 1;
    const numbers = response.map((token) => numbersOf(token, random));
    all.push(
      span("LLMServerClient.generate", 40 + 9 * response.length, {
        inputs: { request_id: `sample-${index}-${n}`, prompt_ids: prompt, sampling_params: { temperature: 1, max_tokens: 512 } },
        outputs: {
          token_ids: response,
          log_probs: numbers.map(({ logprob }) => logprob),
          entropy: numbers.map(({ entropy }) => entropy),
          advantages: response.map(() => advantage),
          stop_reason: "completed",
          ...(isLast && { reward: rollout.reward }),
        },
      }),
    );
    if (tool === undefined) continue;
    all.push(span(tool, 120 + Math.floor(300 * random()), { inputs: { call: text.slice(text.indexOf("<tool_call>")) }, outputs: { result } }));
    const next = encode(`\n<|im_start|>user\n<tool_response>\n${result}\n</tool_response><|im_end|>\n<|im_start|>assistant\n`);
    prompt = [...prompt, ...(rewrite ? rewritten(response, rewrite, encode) : response), ...next];
  }
  const loop = span("ToolAgentLoop.run", 0, { inputs: { question: sample.question }, outputs: { num_turns: 2 * rollout.turns.length } });
  Object.assign(loop, { id: "1".padStart(16, "0"), parent_id: null, start_time_unix_nano: `${loopStart}000000`, end_time_unix_nano: `${time - 4}000000` });
  return [loop, ...all];
}

/** A word that came back in other tokens: the same text. @param {number[]} ids @param {[string, string[]]} rewrite @param {Encode} encode */
function rewritten(ids, [word, parts], encode) {
  const [whole, ...more] = encode(word);
  const at = ids.lastIndexOf(whole);
  if (more.length > 0 || at === -1) fail(`the sample's word \`${word}\` is no token of its answer`);
  return ids.toSpliced(at, 1, ...parts.flatMap(encode));
}

/** Numbers such as a model might give: few tokens are doubtful. @param {number} token @param {() => number} random */
function numbersOf(token, random) {
  const doubt = random() ** 6 * (token % 7 === 0 ? 2 : 1);
  return { logprob: round(-0.002 - 4 * doubt), entropy: round(0.01 + 2.2 * doubt * (0.6 + 0.8 * random())) };
}

/** Four digits are enough to read. @param {number} number */
function round(number) {
  return Math.round(number * 1e4) / 1e4;
}

/** The same numbers each time: a linear congruential generator. @param {number} seed */
function randomOf(seed) {
  let state = (seed * 2654435761 + 12345) % 2 ** 32;
  return () => (state = (state * 1664525 + 1013904223) % 2 ** 32) / 2 ** 32;
}

async function main() {
  const { Tokenizer } = await import(pathToFileURL(join(ROOT, "pkg/node.js")).href);
  const tokenizer = await Tokenizer.load(tokenizerJson(), { engine: "general" });
  const lines = jsonLines((text) => [...tokenizer.encode(text)]);
  if (!process.argv.includes("--check")) return writeFileSync(ROLLOUTS, lines);
  if (readFileSync(ROLLOUTS, "utf8") !== lines) fail("pkg-template/sample/rollouts.jsonl is not what scripts/sample.js writes");
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await main();
