/**
 * How long it takes until the list of a body's rollouts is there, beside JSON.parse on each of its lines: of 50 MB of rollouts as verl
 * logs them (ids, masks, log-probabilities), and of 100,000 small ones. All in one thread, the best of some rounds.
 *
 *   node benches/rollouts.mjs [MB]
 */
import { openRollouts } from "../pkg/node.js";

const ROUNDS = 3;
const megabytes = Number(process.argv[2] ?? 50);

let seed = 7;
/** @param {number} below */
function random(below) {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
}
/** @param {number} length */
const ids = (length) => Array.from({ length }, () => random(150_000));
/** As they are of a GPU: with as many digits as a float has in a double. @param {number} length */
const logprobs = (length) => Array.from({ length }, () => Math.fround(-random(1e6) / 1e5));

/**
 * What verl logs of one rollout: its turns and the trajectory.
 *
 * @param {number} number
 * @param {number} turns
 * @param {number} tokens Of a prompt, an answer, and what a tool says.
 */
function rollout(number, turns, tokens) {
  const marks = { step: number >> 6, sample_index: number >> 2, rollout_n: number & 3, validate: false, experiment_name: "grpo" };
  const lines = [];
  const first = ids(tokens);
  let prompt = first;
  const mask = [];
  for (let turn = 0; turn < turns; turn++) {
    const answer = ids(tokens);
    const inputs = { request_id: `r${number}`, prompt_ids: prompt, sampling_params: { temperature: 1, max_tokens: 2048 } };
    lines.push({ name: "LLMServerClient.generate", attributes: marks, inputs, outputs: { token_ids: answer, log_probs: logprobs(tokens), stop_reason: "completed" } });
    const said = turn + 1 < turns ? ids(tokens) : [];
    mask.push(...answer.map(() => 1), ...said.map(() => 0));
    prompt = [...prompt, ...answer, ...said];
  }
  const response = prompt.slice(tokens);
  const outputs = { prompt_ids: first, response_ids: response, response_mask: mask, response_logprobs: logprobs(response.length), reward_score: random(100) / 100, num_turns: 2 * turns };
  lines.push({ name: "ToolAgentLoop.run", attributes: marks, inputs: { request_id: `r${number}` }, outputs });
  return lines;
}

/** @param {(done: { rollouts: number, bytes: number }) => boolean} isEnough @param {number} turns @param {number} tokens */
function body(isEnough, turns, tokens) {
  const encoder = new TextEncoder();
  const chunks = [];
  const done = { rollouts: 0, bytes: 0 };
  while (!isEnough(done)) {
    const text = rollout(done.rollouts++, turns, tokens).map((line) => `${JSON.stringify(line)}\n`).join("");
    chunks.push(encoder.encode(text));
    done.bytes += text.length;
  }
  return Buffer.concat(chunks);
}

/** @param {Uint8Array} bytes */
function parse(bytes) {
  for (const line of new TextDecoder().decode(bytes).split("\n")) if (line) JSON.parse(line);
}

/** @param {Uint8Array} bytes */
async function list(bytes) {
  const start = performance.now();
  const reader = await openRollouts(bytes, {}, { limits: { bodyBytes: 2 ** 31 } });
  const open = performance.now() - start;
  const rows = reader.overview();
  reader.free();
  return { rows: rows.length, open, overview: performance.now() - start - open };
}

/** @param {() => unknown} work */
async function time(work) {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

await list(body(({ rollouts }) => rollouts > 0, 1, 8));
for (const [name, bytes] of /** @type {const} */ ([
  [`${megabytes} MB of rollouts of 4 turns`, body(({ bytes }) => bytes > megabytes * 1e6, 4, 250)],
  ["100,000 small rollouts", body(({ rollouts }) => rollouts >= 100_000, 1, 8)],
])) {
  // What a page shows first, if it reads the first part alone.
  const part = bytes.subarray(0, bytes.lastIndexOf(10, 2e6) + 1);
  const least = { parsed: Infinity, open: Infinity, overview: Infinity, first: Infinity };
  let rows = 0;
  for (let round = 0; round < ROUNDS; round++) {
    least.parsed = Math.min(least.parsed, await time(() => parse(bytes)));
    const whole = await list(bytes);
    rows = whole.rows;
    least.open = Math.min(least.open, whole.open);
    least.overview = Math.min(least.overview, whole.overview);
    least.first = Math.min(least.first, await time(() => list(part)));
  }
  const { parsed, open, overview, first } = least;
  const ratio = (/** @type {number} */ time) => `${(time / parsed).toFixed(2)}x`;
  console.log(`${name}: ${(bytes.length / 1e6).toFixed(1)} MB, ${rows} rows; JSON.parse per line ${parsed.toFixed(0)} ms`);
  console.log(`  whole list ${ratio(open + overview)}: open ${open.toFixed(0)} ms, overview ${overview.toFixed(0)} ms; rows of the first 2 MB ${ratio(first)}`);
}
