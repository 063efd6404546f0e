/** Ids beside those that their text is encoded to. */
import { Token2TextError, asToken2TextError, describe } from "./errors.js";
import { checkOptions } from "./options.js";

/** @typedef {import("./source.js").Progress} Progress */
/** `[start, end)` in a list of ids. @typedef {readonly [start: number, end: number]} TokenRange */
/**
 * @typedef {object} DriftOptions
 * @property {readonly TokenRange[]} [ranges] Parts of the ids, as turns or messages, for which the result is given too. They
 *   may overlap.
 * @property {(progress: Progress) => void} [onProgress] Called with the bytes of text that are encoded, between parts of 128 KiB
 *   or more and at the end.
 */
/**
 * Why ids differ. `merge`: the same text in other tokens, as a model may sample it; `pre_tokenizer`: the same, with a token
 * across a place where the pre-tokenizer cuts; `special_as_text`: plain tokens spell a special or other added token;
 * `invalid_utf8`: the bytes are not UTF-8, so that the text has U+FFFD; `added_token_whitespace`: an added token takes the
 * white space beside it, or is none inside a word; `normalizer`: the tokenizer makes another text of it; `unknown_id`: no token
 * has the id; `unknown_text`: the model gives its unknown token for the text; `decoder`: nobody's choice, the tokenizer does
 * not read back what it writes (the space in front of a text, `##` of WordPiece).
 *
 * @typedef {"merge" | "pre_tokenizer" | "special_as_text" | "invalid_utf8" | "added_token_whitespace" | "normalizer" |
 *   "unknown_id" | "unknown_text" | "decoder"} DriftCause
 */
/**
 * Ids that differ from those which their text is encoded to.
 *
 * @typedef {object} DriftRun
 * @property {[start: number, end: number]} tokens Which of the ids given. Empty where encoding puts ids between two others.
 * @property {number[]} ids What is in their place when the text is encoded.
 * @property {string} text What the ids given are decoded to.
 * @property {string} [encodedText] What `ids` are decoded to, where it is another text.
 * @property {DriftCause} cause
 */
/** Runs that have a cause, and how many of the ids are in them. @typedef {{ cause: DriftCause, runs: number, tokens: number }} CauseCount */
/**
 * The drift of a range: what touches it when all ids are encoded together.
 *
 * @typedef {object} RangeDrift
 * @property {[start: number, end: number]} tokens
 * @property {boolean} equal
 * @property {number} differing How many of its ids are in runs.
 * @property {CauseCount[]} causes
 */
/**
 * @typedef {object} Drift
 * @property {boolean} equal Whether the text is encoded to exactly these ids.
 * @property {number} tokens How many ids were given.
 * @property {number} encodedTokens How many ids their text is encoded to.
 * @property {number} differing How many of the ids given are in runs.
 * @property {number} runCount How many runs there are.
 * @property {CauseCount[]} causes All runs by cause.
 * @property {DriftRun[]} runs The first 1000. Outside them the ids are equal.
 * @property {RangeDrift[]} ranges In the order of the option.
 */

/** What the options may hold. @param {DriftOptions} [options] */
export function checkDriftOptions(options) {
  const { ranges = [], onProgress } = checkOptions(options, ["ranges", "onProgress"], "drift");
  if (onProgress !== undefined && typeof onProgress !== "function") {
    throw new Token2TextError("invalid_options", `\`onProgress\` must be a function, not ${describe(onProgress)}`);
  }
  if (!Array.isArray(ranges)) {
    throw new Token2TextError("invalid_options", `\`ranges\` must be an array of [start, end], not ${describe(ranges)}`);
  }
  return { ranges: /** @type {readonly TokenRange[]} */ (ranges), onProgress };
}

/** Ranges one behind the other. @param {readonly TokenRange[]} ranges */
function rangeWords(ranges) {
  const words = new Uint32Array(2 * ranges.length);
  ranges.forEach((range, i) => {
    if (!Array.isArray(range) || range.length !== 2 || range.some((at) => typeof at !== "number" || at >>> 0 !== at)) {
      throw new Token2TextError("invalid_options", `ranges[${i}] must be two whole numbers, [start, end)`);
    }
    words.set(range, 2 * i);
  });
  return words;
}

/**
 * @param {import("./general.js").TokenizerCore} core
 * @param {Uint32Array} ids
 * @param {ReturnType<typeof checkDriftOptions>} options
 * @returns {Drift}
 */
export function driftOf(core, ids, { ranges, onProgress }) {
  const words = rangeWords(ranges);
  /** @type {{ error: unknown } | undefined} */
  let failure;
  // What it throws must not go through WebAssembly.
  const tell = (/** @type {number} */ loaded, /** @type {number} */ total) => {
    if (failure) return;
    try {
      onProgress?.({ loaded, total });
    } catch (error) {
      failure = { error };
    }
  };
  let drift;
  try {
    drift = core.drift(ids, words, onProgress && tell);
  } catch (error) {
    throw asToken2TextError(error);
  }
  if (failure) throw failure.error;
  return drift;
}
