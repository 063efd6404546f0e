/**
 * Validation generations in the form of verl's `ValidationGenerationsLogger` for W&B: under the key `val/generations` one row a
 * step with the columns `step`, `input_1`, `output_1`, `score_1`, `input_2`, ... There it is a row of a table; here it is a call.
 */
import { Token2TextError, describe, messageOf } from "../errors.js";
import { sha256 } from "./sha256.js";
import { storableJson } from "./weave-calls.js";
import { storedBytes } from "./weave-size.js";

/** @typedef {string | import("../tokenizer.js").TokenIds} TextOrIds */
/**
 * Input, output and score. Ids are decoded, special tokens left out.
 *
 * @typedef {[input: TextOrIds, output: TextOrIds, score?: unknown]} Sample
 */
/** Of the package, or of `token2text/worker`. @typedef {{ decode(ids: import("../tokenizer.js").TokenIds, options: { skipSpecialTokens: boolean }): string | Promise<string> }} Decoder */
/** @typedef {{ step?: number | null, tokenizer?: Decoder }} GenerationOptions */
/** @typedef {import("./weave-calls.js").Call} Call */

const KEY = "val/generations";
/** Of a step with more than a call can hold, the next samples are in another one. */
const MAX_ROW_BYTES = 3 << 20;

/**
 * @param {readonly Sample[]} samples
 * @param {GenerationOptions} options
 * @param {string} project
 * @param {import("./weave-calls.js").Replaced} replaced Is counted up.
 * @param {(id: string) => string} timeOf When a call was made first, in ISO's form.
 * @returns {Promise<Call[]>}
 * @throws {Token2TextError} `invalid_options`: ids without a tokenizer. `invalid_ids`.
 */
export async function generationCalls(samples, { step = null, tokenizer }, project, replaced, timeOf) {
  if (step !== null && !Number.isSafeInteger(step)) throw new Token2TextError("invalid_options", `\`step\` must be an integer, not ${step}`);
  if (!Array.isArray(samples)) throw new Token2TextError("invalid_options", `logGenerations takes a list of samples, not ${describe(samples)}`);
  /** @type {string[][]} */
  const rows = [];
  let bytes = Infinity;
  for (const [i, sample] of samples.entries()) {
    if (!Array.isArray(sample)) throw new Token2TextError("invalid_options", `sample ${i} is [input, output, score], not ${describe(sample)}`);
    const [input, output = "", score = null] = sample;
    const cells = { input: await textOf(input, tokenizer), output: await textOf(output, tokenizer), score };
    const text = Object.entries(cells).map(([name, cell]) => `"${name}_${i + 1}":${storableJson(jsonOf(cell, i), replaced)}`).join(",");
    bytes += storedBytes(text);
    if (bytes > MAX_ROW_BYTES) [bytes] = [storedBytes(text), rows.push([])];
    rows.at(-1)?.push(text);
  }
  return rows.map((row) => callOf(`{"step":${step},${row.join(",")}}`, step, project, timeOf));
}

/** @param {string} row @param {number | null} step @param {string} project @param {(id: string) => string} timeOf @returns {Call} */
function callOf(row, step, project, timeOf) {
  // Made of what it says, so that it is stored once.
  const id = sha256(JSON.stringify([project, KEY, row])).slice(0, 32);
  const time = timeOf(id);
  const texts = { project_id: project, id, trace_id: id, op_name: KEY, started_at: time, ended_at: time };
  return new Map([
    ...Object.entries(texts).map(([key, text]) => /** @type {const} */ ([key, JSON.stringify(text)])),
    ["attributes", `{"source":"validation_generations","step":${step}}`],
    ["inputs", `{"step":${step}}`],
    ["output", row],
    ["summary", "{}"],
  ]);
}

/** A number that JSON has not is spelled as Python does. @param {unknown} value @param {number} i */
function jsonOf(value, i) {
  if (typeof value === "bigint" || typeof value === "number") return String(value);
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    throw new Token2TextError("invalid_options", `the score of sample ${i} cannot be JSON: ${messageOf(error)}`, { cause: error });
  }
}

/** @param {TextOrIds} value @param {Decoder} [tokenizer] */
async function textOf(value, tokenizer) {
  if (typeof value === "string") return value;
  if (tokenizer) return tokenizer.decode(value, { skipSpecialTokens: true });
  throw new Token2TextError("invalid_options", "samples with token ids need the option `tokenizer`");
}
