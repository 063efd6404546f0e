/** Traces that MLflow has stored as ids, read with texts through `--enrich-reads`: by MLflow's client and in MLflow's own page. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mlflowServer } from "../integration/support/mlflow.js";
import { withPage } from "../js/support/browser.js";
import { SETTINGS, client, verl } from "./support/clients.js";
import { comparable, noTexts, textsIn } from "./support/records.js";
import { startRelayed } from "./support/relayed.js";

const PROJECT = "stored-as-ids";
const mlflow = mlflowServer();
/** @type {Awaited<ReturnType<typeof startRelayed>>} */
let relayed;
/** @type {string[]} */
let texts;
/** @type {any[]} What is stored, before anybody reads it through the relay. */
let stored;
const read = async (/** @type {string} */ url) => (await client(SETTINGS.mlflow(url), "read_mlflow", PROJECT))[0];

before(async () => {
  await mlflow.start();
  relayed = await startRelayed("mlflow", mlflow.url, { options: ["--enrich-reads"] });
  texts = (await verl("mlflow", mlflow.url, PROJECT, "--samples", "1")).calls.flatMap((call) => call.texts);
  stored = await read(mlflow.url);
  assert.deepEqual(textsIn(stored), []);
});
after(async () => {
  await relayed?.close();
  await mlflow.dispose();
});

test("MLflow's client reads texts, and what is stored stays", async () => {
  const through = await read(relayed.url);
  const found = new Set(textsIn(through).flatMap((each) => each.texts));
  for (const text of texts) assert.ok(found.has(text), text);
  assert.deepEqual(comparable(through, noTexts), comparable(stored, noTexts));
  assert.deepEqual(await read(mlflow.url), stored);
});

test("MLflow's own page at the relay's address shows the texts", async () => {
  const [{ info }] = stored;
  await withPage({ viewport: { width: 1440, height: 900 } }, async (page) => {
    await page.goto(`${relayed.url}/#/experiments/${info.experiment}/traces?selectedEvaluationId=${info.id}&startTimeLabel=ALL`);
    // By event: the drawer that slides in covers the name for a while.
    await page.getByText("LLMServerClient.generate").last().dispatchEvent("click");
    await page.getByText("response_text").first().waitFor({ state: "attached" });
    const body = await page.locator("body").innerText();
    if (process.env.SCREENSHOT) {
      await page.getByText("response_text").first().scrollIntoViewIfNeeded();
      await page.screenshot({ path: process.env.SCREENSHOT });
    }
    // The answer with the token that ends it, which verl's parser leaves out of what it logs.
    assert.ok(body.includes("京都は晴れで、気温は21度です。☀️<|im_end|>"), body);
  }).catch((error) => {
    // The page itself has errors where there is no internet.
    if (!/the page had errors/.test(String(error))) throw error;
  });
  assert.deepEqual(await read(mlflow.url), stored);
});
