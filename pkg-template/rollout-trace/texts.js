/** Texts beside the ids of a record, where verl puts them with its `token2text`. */
import { Token2TextError, describe, messageOf } from "../errors.js";
import { memberText, members } from "../exporters/json-text.js";
import { Enricher, Tokenizer } from "../node.js";

/** @typedef {import("../index.js").EnricherOptions["layouts"]} Layouts */
/** A record's JSON. @typedef {{ inputs: string, output: string }} Values */
/** @typedef {{ count: number, reason: string }} Undecoded Fields of ids that got no text, and why the last of them did not. */
/**
 * @typedef {object} Texts
 * @property {(values: Values) => Promise<{ values: Values, undecoded?: Undecoded }>} add
 * @property {() => void} free
 */

const utf8 = new TextEncoder();

/**
 * A Tokenizer of `token2text` decodes in this thread, between other work; one of `token2text/worker`, and one that is loaded here, in
 * the thread of `token2text/worker`.
 *
 * @param {unknown} tokenizer A Tokenizer, or what `Tokenizer.load` takes.
 * @param {Layouts} layouts
 * @returns {Promise<Texts>}
 * @throws {Token2TextError} As `Tokenizer.load`, and `invalid_layout`.
 */
export async function textsOf(tokenizer, layouts) {
  // What verl does with a text that is there.
  const options = /** @type {const} */ ({ format: "record", existing: "replace", layouts });
  if (tokenizer instanceof Tokenizer) return textsBy(new Enricher(tokenizer, options));
  const worker = await import("../worker-node.js");
  if (tokenizer instanceof worker.Tokenizer) return textsBy(await worker.Enricher.create(tokenizer, options));
  const loaded = await worker.Tokenizer.load(source(tokenizer));
  const enricher = await worker.Enricher.create(loaded, options);
  loaded.free();
  return textsBy(enricher);
}

/** @param {unknown} tokenizer @returns {any} */
function source(tokenizer) {
  if (tokenizer !== undefined && tokenizer !== null && typeof tokenizer !== "boolean") return tokenizer;
  const cure = "give its path, its URL or a Tokenizer as `token2text`, or as `tokenizer` beside `token2text: true`";
  throw new Token2TextError("invalid_options", `init needs a tokenizer for texts, not ${describe(tokenizer)}; ${cure}`);
}

/** @param {Enricher | import("../worker-client.js").Enricher} enricher @returns {Texts} */
function textsBy(enricher) {
  return {
    async add(values) {
      try {
        const { body, report } = await enricher.enrichBody(utf8.encode(`{"inputs":${values.inputs},"output":${values.output}}`));
        const skipped = report.fields.filter(({ status }) => status === "skipped");
        const undecoded = skipped.length === 0 ? undefined : { count: skipped.length, reason: `no text: ${skipped[0].reason}` };
        const text = new TextDecoder().decode(body);
        const parts = members(text);
        const [inputs, output] = ["inputs", "output"].map((name) => memberText(text, parts, name) ?? "null");
        return { values: { inputs, output }, undecoded };
      } catch (error) {
        return { values, undecoded: { count: 1, reason: `no text: ${messageOf(error)}` } };
      }
    },
    free: () => void enricher.free(),
  };
}
