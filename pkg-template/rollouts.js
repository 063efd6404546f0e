import { bodyBytes } from "./enricher.js";
import { Token2TextError } from "./errors.js";
import { ORIGIN, checkOptions, checkWaiting, optionsText, tokenizerEntries } from "./options.js";
import { CHECKS, entriesOf, open } from "./rollout-reader.js";
import { Tokenizer } from "./tokenizer.js";

/** @typedef {import("./rollout.js").Rollout} Rollout */
/** @typedef {import("./rollout.js").Rollouts} Rollouts */
/** @typedef {import("./rollout-reader.js").RolloutReader} RolloutReader */
/**
 * @typedef {object} WaitingOptions
 * @property {(progress: { done: number, total: number }) => void} [onProgress] Called after each rollout.
 * @property {AbortSignal} [signal]
 */
/** @typedef {import("./read.js").ReadOptions & import("./rollout-reader.js").CheckOptions} OpenRolloutsOptions */
/** @typedef {OpenRolloutsOptions & WaitingOptions} RolloutOptions */

const OPTIONS = ["format", "layouts", "limits", ...ORIGIN, "traceInfos", ...CHECKS];
/** Milliseconds between two looks at what else there is to do in this thread. */
const SLICE = 20;

/**
 * Reads a body once, to look at its rollouts one by one: a list of what is known without decoding, and of each the
 * calls, the messages, the findings, the numbers beside its tokens, its spans. Loads a WebAssembly module of its own at the first call.
 *
 * @param {Uint8Array | ArrayBuffer} bytes As for `read`.
 * @param {Tokenizer | Record<string, Tokenizer>} tokenizers As for an Enricher; `{}` while there is none.
 * @param {OpenRolloutsOptions} [options]
 * @returns {Promise<RolloutReader>}
 */
export async function openRollouts(bytes, tokenizers, options) {
  const body = checkedBody(bytes, checkOptions(options, OPTIONS, "openRollouts"), "openRollouts");
  return open(body, entriesOf(tokenizers), "openRollouts");
}

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
  const checked = checkWaiting(checkOptions(options, [...OPTIONS, "onProgress", "signal"], "readRollouts"));
  const { onProgress, signal, ...rest } = checked;
  const body = checkedBody(bytes, rest, "readRollouts");
  const entries = tokenizerEntries(tokenizers, (value) => value instanceof Tokenizer);
  const reader = await open(body, entries, "readRollouts");
  try {
    /** @type {Rollout[]} */
    const rollouts = [];
    let last = Date.now();
    for (let at = 0; at < reader.length; at++) {
      if (signal?.aborted) throw new Token2TextError("aborted", "reading rollouts was aborted", { cause: signal.reason });
      rollouts.push(reader.rollout(at));
      onProgress?.({ done: at + 1, total: reader.length });
      if (Date.now() - last < SLICE) continue;
      await new Promise((resolve) => setTimeout(resolve));
      last = Date.now();
    }
    return { rollouts, skipped: reader.skipped };
  } finally {
    reader.free();
  }
}

/**
 * @param {unknown} bytes
 * @param {OpenRolloutsOptions} options
 * @param {string} call
 * @returns {import("./rollout-reader.js").Body}
 */
function checkedBody(bytes, { contentType, url, traceInfos, ...rest }, call) {
  const infos = traceInfos === undefined ? new Uint8Array() : bodyBytes(traceInfos, `the option \`traceInfos\` of ${call}`);
  const { drift, maxTokens, template } = rest;
  const options = { drift, maxTokens, template };
  const origin = { contentType: String(contentType ?? ""), url: String(url ?? "") };
  return { bytes: bodyBytes(bytes, call), ...origin, infos, json: optionsText(rest, call), options };
}
