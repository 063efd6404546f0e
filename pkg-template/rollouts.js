import { bodyBytes } from "./enricher.js";
import { Token2TextError } from "./errors.js";
import { ORIGIN, checkOptions, checkWaiting, optionsText, tokenizerEntries } from "./options.js";
import { CHECKS, entriesOf, open } from "./rollout-reader.js";
import { asBytes, readChunks } from "./source.js";
import { Tokenizer } from "./tokenizer.js";

/** @typedef {import("./rollout.js").Rollout} Rollout */
/** @typedef {import("./rollout.js").Rollouts} Rollouts */
/** @typedef {import("./rollout-reader.js").RolloutReader} RolloutReader */
/** @typedef {import("./source.js").Source} Source */
/**
 * @typedef {object} WaitingOptions
 * @property {(progress: { done: number, total: number }) => void} [onProgress] Called after each rollout.
 * @property {AbortSignal} [signal]
 */
/** @typedef {import("./read.js").ReadOptions & import("./rollout-reader.js").CheckOptions} ReadingOptions */
/**
 * @typedef {object} ComingOptions
 * @property {(progress: import("./source.js").Progress) => void} [onProgress] Called while a body comes that is not in memory.
 * @property {AbortSignal} [signal] Ends it.
 */
/** @typedef {ReadingOptions & ComingOptions} OpenRolloutsOptions */
/** @typedef {ReadingOptions & WaitingOptions} RolloutOptions */

const OPTIONS = ["format", "layouts", "limits", ...ORIGIN, "traceInfos", ...CHECKS];
/** Milliseconds between two looks at what else there is to do in this thread. */
const SLICE = 20;
/** Bytes that are copied into WebAssembly memory at once. */
const PIECE = 1 << 20;
/** Bytes of a body at most, as in `limits`. */
const MOST_BYTES = 64 << 20;

/**
 * Reads a body once, to look at its rollouts one by one: a list of what is known without decoding, and of each the
 * calls, the messages, the findings, the numbers beside its tokens, its spans. Loads a WebAssembly module of its own at the first call.
 *
 * JSON lines are read as they come, so that of a file or an answer to a request never more than a line is held besides what is read of it.
 *
 * @param {Source} source Bytes as for `read`; or, plain or gzip, what `Tokenizer.load` takes besides: a URL, a Response, a Blob, a path in
 *   Node, or the bytes piece by piece.
 * @param {Tokenizer | Record<string, Tokenizer>} tokenizers As for an Enricher; `{}` while there is none.
 * @param {OpenRolloutsOptions} [options]
 * @returns {Promise<RolloutReader>}
 */
export async function openRollouts(source, tokenizers, options) {
  const { onProgress, signal, ...rest } = checkWaiting(checkOptions(options, [...OPTIONS, "onProgress", "signal"], "openRollouts"));
  const { bytes, pieces } = comingFrom(source, { onProgress, signal }, rest.limits?.bodyBytes);
  return open({ bytes, pieces, ...checkedOptions(rest, "openRollouts") }, entriesOf(tokenizers), "openRollouts");
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
  const body = { ...inMemory(bodyBytes(bytes, "readRollouts")), ...checkedOptions(rest, "readRollouts") };
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
 * A body in pieces, and how many bytes it has if that is known.
 *
 * @param {Source} source
 * @param {ComingOptions} waiting
 * @param {number} [limit]
 * @returns {Pick<import("./rollout-reader.js").Body, "bytes" | "pieces">}
 */
function comingFrom(source, waiting, limit = MOST_BYTES) {
  const bytes = asBytes(source);
  if (bytes) return inMemory(bodyBytes(bytes, "openRollouts"));
  const size = /** @type {{ size?: unknown }} */ (source)?.size;
  const pieces = readChunks(source, { what: "trace", limit, ...waiting });
  return { bytes: typeof size === "number" && size <= limit ? size : 0, pieces };
}

/** @param {Uint8Array} bytes */
function inMemory(bytes) {
  return { bytes: bytes.length, pieces: piecesOf(bytes) };
}

/** @param {Uint8Array} bytes */
function* piecesOf(bytes) {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

/**
 * @param {ReadingOptions} options
 * @param {string} call
 * @returns {Omit<import("./rollout-reader.js").Body, "bytes" | "pieces">}
 */
function checkedOptions({ contentType, url, traceInfos, ...rest }, call) {
  const infos = traceInfos === undefined ? new Uint8Array() : bodyBytes(traceInfos, `the option \`traceInfos\` of ${call}`);
  const { drift, maxTokens, template } = rest;
  const options = { drift, maxTokens, template };
  const origin = { contentType: String(contentType ?? ""), url: String(url ?? "") };
  return { ...origin, infos, json: optionsText(rest, call), options };
}
