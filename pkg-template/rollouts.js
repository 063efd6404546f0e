import { bodyBytes } from "./enricher.js";
import { load } from "./engines.js";
import { Token2TextError, asToken2TextError } from "./errors.js";
import { ORIGIN, checkOptions, checkWaiting, optionsText, tokenizerEntries } from "./options.js";
import { Tokenizer, coreIn, instanceOf } from "./tokenizer.js";

/** @typedef {import("./rollout.js").Rollout} Rollout */
/** @typedef {import("./rollout.js").Rollouts} Rollouts */
/**
 * @typedef {object} RolloutOnly
 * @property {boolean} [drift] Whether each text is encoded again, and where that gives other ids than the trace has. The tokenizers
 *   must be loaded with `engine: "general"`. It takes longer than all the rest. Default: false.
 * @property {number} [maxTokens] Most tokens of a call, padding apart; more is a finding. Default: no limit but that of the request.
 * @property {string} [template] Name of the chat template. Default: the one whose marks the tokenizer has.
 * @property {(progress: { done: number, total: number }) => void} [onProgress] Called after each rollout.
 * @property {AbortSignal} [signal]
 */
/** @typedef {import("./read.js").ReadOptions & RolloutOnly} RolloutOptions */

const OPTIONS = ["format", "layouts", "limits", ...ORIGIN, "traceInfos", "drift", "maxTokens", "template", "onProgress", "signal"];
/** Milliseconds between two looks at what else there is to do in this thread. */
const SLICE = 20;

/**
 * Reads the rollouts of a body: the calls of each in order, how each goes on from the one before, whose which token is, the
 * messages, and what is wrong. Loads a WebAssembly module of its own at the first call.
 *
 * @param {Uint8Array | ArrayBuffer} bytes As for `read`.
 * @param {Tokenizer | Record<string, Tokenizer>} tokenizers As for an Enricher.
 * @param {RolloutOptions} [options]
 * @returns {Promise<Rollouts>}
 */
export async function readRollouts(bytes, tokenizers, options) {
  const body = bodyBytes(bytes, "readRollouts");
  const entries = tokenizerEntries(tokenizers, (value) => value instanceof Tokenizer);
  const checked = checkWaiting(checkOptions(options, OPTIONS, "readRollouts"));
  const { contentType, url, traceInfos, onProgress, signal, ...rest } = checked;
  const json = optionsText(rest, "readRollouts");
  const infos = traceInfos === undefined ? new Uint8Array() : bodyBytes(traceInfos, "the option `traceInfos` of readRollouts");
  const name = rest.drift ? "general" : "spans";
  // Which of them it is matters to `drift` alone.
  const instance = /** @type {import("./engines.js").Instance} */ (await load(name, "readRollouts"));
  if (rest.drift && !entries.every(([, tokenizer]) => instanceOf(tokenizer) === instance)) {
    const cure = 'load it with `await Tokenizer.load(source, { engine: "general" })`, or leave `drift` out';
    throw new Token2TextError("engine_not_available", `\`drift\` needs a tokenizer that encodes; ${cure}`);
  }
  try {
    const core = new instance.glue.RolloutsCore(json);
    try {
      for (const [pattern, tokenizer] of entries) core.addTokenizer(pattern, coreIn(tokenizer, instance));
      const read = core.read(body, String(contentType ?? ""), String(url ?? ""), infos);
      const [total, skipped] = /** @type {[number, string]} */ (/** @type {unknown} */ (read));
      return { rollouts: await all(core, total, { onProgress, signal }), skipped: JSON.parse(skipped) };
    } finally {
      core.free();
    }
  } catch (error) {
    throw asToken2TextError(error);
  }
}

/**
 * @param {import("./spans.js").RolloutsCore} core
 * @param {number} total
 * @param {Pick<RolloutOnly, "onProgress" | "signal">} options
 */
async function all(core, total, { onProgress, signal }) {
  /** @type {Rollout[]} */
  const rollouts = [];
  let last = Date.now();
  for (let at = 0; at < total; at++) {
    if (signal?.aborted) throw new Token2TextError("aborted", "reading rollouts was aborted", { cause: signal.reason });
    rollouts.push(rollout(core, at));
    onProgress?.({ done: at + 1, total });
    if (Date.now() - last < SLICE) continue;
    await new Promise((resolve) => setTimeout(resolve));
    last = Date.now();
  }
  return rollouts;
}

/** Its JSON, and the ids of its calls one after the other. @param {import("./spans.js").RolloutsCore} core @param {number} at */
function rollout(core, at) {
  const [json, ids] = /** @type {[string, Uint32Array]} */ (/** @type {unknown} */ (core.rollout(at)));
  /** @type {Rollout} */
  const rollout = JSON.parse(json);
  let start = 0;
  for (const call of rollout.calls) {
    const count = /** @type {{ ids: number }} */ (/** @type {unknown} */ (call)).ids;
    // Each has a buffer of its own, so that it can be moved to another thread.
    call.ids = ids.slice(start, start + count);
    start += count;
  }
  return rollout;
}
