/** The recipe for Trackio in the package's README, run as printed, but for the port. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { byteIds, byteLevel, jsonBytes } from "../js/support/tokenizers.js";
import { runRecipe } from "./support/recipe.js";
import { Trackio } from "./support/trackio.js";

const PRINTED_URL = "http://127.0.0.1:7860";
const server = new Trackio();
before(() => server.start());
after(() => server.dispose());

test("the recipe does what it says", async () => {
  const entry = (/** @type {string} */ logId, /** @type {object} */ output) => ({
    project: "my-project",
    run: "r",
    run_id: "0123",
    step: 1,
    log_id: logId,
    metrics: { "rollout_trace/generate": { _type: "trackio.trace", messages: [], metadata: { output }, spans: [] } },
  });
  await server.ask("post", { hf_token: null, logs: [entry("stored", { token_ids: byteIds("stored as ids") })] });
  const commands = await runRecipe("Trackio", {
    printed: { [PRINTED_URL]: server.url },
    files: {
      "tokenizer.json": jsonBytes(byteLevel()),
      "bulk-log.json": jsonBytes({ hf_token: null, logs: [entry("sent", { token_ids: byteIds("on its way") })] }),
    },
    env: { TRACKIO_WRITE_TOKEN: server.writeToken },
  });
  assert.equal(commands, 2);

  const { traces } = (await server.ask("stored"))["my-project"].runs[0];
  const texts = traces.map((/** @type {any} */ { metadata }) => [metadata.output.response_text, metadata.token2text?.source]);
  assert.deepEqual(texts, [
    [undefined, undefined],
    ["on its way", undefined],
    ["stored as ids", "0123:stored:rollout_trace/generate"],
  ]);
});
