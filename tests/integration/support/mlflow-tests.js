/** A server of MLflow for the tests of a file, and short ways to it; what is stored is read by MLflow's own client. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before } from "node:test";
import { MlflowExporter, MlflowReader } from "../../../pkg/exporters/mlflow.js";
import { Tokenizer } from "../../../pkg/node.js";
import { token2text } from "../../js/support/cli.js";
import { qwen3, tokenizerFolder } from "./fixtures.js";
import { PythonClient, mlflowServer } from "./mlflow.js";

export const server = mlflowServer();
export const enricher = await qwen3();
export const tokenizer = await Tokenizer.load(join(tokenizerFolder, "tokenizer.json"));
/** @type {PythonClient} */
let client;
before(async () => {
  await server.start();
  client = new PythonClient(server.url);
});
after(async () => {
  client?.close();
  await server.dispose();
});
/** MLflow's client: see `mlflow_client.py`. */
export const python = { ask: (/** @type {string} */ question, /** @type {unknown[]} */ ...args) => client.ask(question, ...args) };

let serial = 0;
/** A new experiment for each test. */
export const fresh = () => `experiment ${serial++} ü/x`;
/** @param {string} experiment @param {object} [more] */
export const exporter = (experiment, more) => new MlflowExporter({ url: server.url, experiment, ...more });
/** @param {string} experiment */
export const reader = (experiment) => new MlflowReader({ url: server.url, experiment });
/** @param {import("../../../pkg/exporters/mlflow-exporter.js").ExportResult} result */
export const isStored = (result) => assert.equal(result.status, "success", "error" in result ? result.error.message : "");
/** @param {string} experiment @param {...string} args */
export const command = (experiment, ...args) => {
  return token2text(["mlflow", "enrich", "--tracking-uri", server.url, "--experiment", experiment, "-t", tokenizerFolder, ...args]);
};

export const IDS = [52491, 83592, 52549];
export const DECODED = tokenizer.decode(IDS);
/** As Python spells it, for the server writes JSON anew. */
export const output = `{"token_ids": [${IDS.join(", ")}]}`;

/** @param {any} trace The spans of a trace of the Python client, by their name and order. */
export const spansOf = (trace) => /** @type {any[]} */ (Object.values(trace.spans));
/** An attribute as a value. @param {any} span @param {string} key */
export const value = (span, key) => JSON.parse(span.attributes[key]);

const TEXT = String.raw`"(?:[^"\\]|\\.)*"`;
/** A member with a text, with several, or with none yet. */
const TEXT_MEMBER = new RegExp(String.raw`"(?:prompt|response)_text": (?:null|${TEXT}|\[${TEXT}(?:, ${TEXT})*\]), `, "g");
const withoutTexts = (/** @type {string} */ json) => json.replaceAll(TEXT_MEMBER, "");

/**
 * Checks that a span is the same but for texts that were added; gives their number.
 *
 * @param {any} before @param {any} after
 */
export function onlyAdded(before, after) {
  const { attributes: given, ...rest } = before;
  const { attributes: found, ...same } = after;
  assert.deepEqual(same, rest);
  let texts = 0;
  for (const [key, json] of Object.entries(found)) {
    if (json === given[key]) continue;
    texts++;
    if (given[key] === undefined) {
      assert.match(key, /^token2text\.(prompt|response)_text$|^mlflow\.chat\.messages$/);
      continue;
    }
    // The rest of the text is the same, byte for byte; a text that was there is still there.
    assert.equal(withoutTexts(json), withoutTexts(given[key]));
    for (const [text] of given[key].matchAll(TEXT_MEMBER)) assert.ok(text.endsWith("null, ") || json.includes(text), text);
  }
  for (const key of Object.keys(given)) assert.ok(key in found, key);
  return texts;
}
