/** Large traces, made the same way each time; for the tests and for benches/viewer.mjs. The ids are those of `chatMl`. */
import { byteIds } from "../../js/support/tokenizers.js";

const [OPEN, CLOSE] = [258, 259];

/** A number from 0 to 1 that looks like chance. @param {number} at */
const noise = (at) => ((at * 2654435761) >>> 8) / 0x1000000;

/** So many rollouts of one short call each, as lines of JSON. @param {number} count */
export function manyRollouts(count) {
  const prompt = [OPEN, ...byteIds("user\nHi"), CLOSE, ...byteIds("\n"), OPEN, ...byteIds("assistant\n")].join();
  const response = [...byteIds("Hello!"), CLOSE].join();
  /** @type {string[]} */
  const lines = [];
  for (let at = 0; at < count; at++) {
    const attributes = `{"step":${at >> 9},"sample_index":${at},"rollout_n":${at & 7},"validate":false}`;
    lines.push(`{"name":"LLMServerClient.generate","inputs":{"request_id":"r${at}","prompt_ids":[${prompt}]},"outputs":{"token_ids":[${response}],"reward":${noise(at).toFixed(4)}},"attributes":${attributes}}\n`);
  }
  return lines.join("");
}

/** One call of so many tokens, in lines of various length. @param {number} tokens */
export function longCall(tokens) {
  /** @type {number[]} */
  const ids = [];
  for (let line = 0; ids.length < tokens; line++) ids.push(...byteIds(`${line}: ${"the quick brown fox ".repeat(1 + ((line * 7) % 9))}\n`));
  ids.length = tokens;
  const logprobs = ids.map((_, at) => (-4 * noise(at)).toFixed(3));
  return `{"name":"LLMServerClient.generate","inputs":{"request_id":"long","prompt_ids":[${byteIds("Go on. ").join()}]},"outputs":{"token_ids":[${ids.join()}],"log_probs":[${logprobs.join()}]},"attributes":{"step":1}}\n`;
}

/** A number below `bound` from a row that is always the same. */
function sequence() {
  let seed = 7;
  return (/** @type {number} */ bound) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * bound);
  };
}

/** At least so many bytes of rollouts as verl traces them: three turns each of random ids of Qwen3, with log-probabilities. @param {number} bytes */
export function verlRollouts(bytes) {
  const random = sequence();
  const ids = (/** @type {number} */ length) => Array.from({ length }, () => random(150_000));
  /** @type {string[]} */
  const lines = [];
  for (let [size, number] = [0, 0]; size < bytes; number++) {
    const attributes = { step: number >> 6, sample_index: number >> 2, rollout_n: number & 3, validate: false, experiment_name: "grpo" };
    let prompt = ids(600);
    for (let turn = 0; turn < 3; turn++) {
      const answer = ids(400);
      const inputs = { request_id: `r${number}`, prompt_ids: prompt };
      const outputs = { token_ids: answer, log_probs: answer.map(() => -random(1e6) / 1e5) };
      lines.push(`${JSON.stringify({ name: "LLMServerClient.generate", inputs, outputs, attributes })}\n`);
      size += /** @type {string} */ (lines.at(-1)).length;
      prompt = [...prompt, ...answer, ...ids(300)];
    }
  }
  return lines.join("");
}
