/** Validation generations as verl's `ValidationGenerationsLogger` writes them for Trackio. */
import { Token2TextError } from "../errors.js";

/** @typedef {string | import("../tokenizer.js").TokenIds} TextOrIds */
/**
 * Input, output and score. Ids are decoded, special tokens left out.
 *
 * @typedef {[input: TextOrIds, output: TextOrIds, score?: unknown]} Sample
 */
/** @typedef {Pick<import("../tokenizer.js").Tokenizer, "decode">} Decoder */

export const GENERATIONS_KEY = "val/generations";

/**
 * @param {readonly Sample[]} samples
 * @param {Decoder} [tokenizer]
 * @returns {object[]} Traces.
 * @throws {Token2TextError} `invalid_options`: ids without a tokenizer. `invalid_ids`.
 */
export function generationTraces(samples, tokenizer) {
  return samples.map(([input, output = "", score = null], index) => ({
    _type: "trackio.trace",
    messages: [
      { role: "user", content: textOf(input, tokenizer) },
      { role: "assistant", content: textOf(output, tokenizer) },
    ],
    metadata: { source: "validation_generations", sample_index: index, score },
    spans: [],
  }));
}

/** @param {TextOrIds} value @param {Decoder} [tokenizer] */
function textOf(value, tokenizer) {
  if (typeof value === "string") return value;
  if (tokenizer) return tokenizer.decode(value, { skipSpecialTokens: true });
  throw new Token2TextError("invalid_options", "samples with token ids need the option `tokenizer`");
}
