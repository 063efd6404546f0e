/**
 * Makes docs/trackio.png: Trackio's own dashboard with rollouts that were logged as ids and enriched there.
 *
 *   node scripts/trackio-picture.js
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TrackioExporter } from "../pkg/exporters/trackio.js";
import { token2text } from "../tests/js/support/cli.js";
import { withPage } from "../tests/js/support/browser.js";
import { Trackio } from "../tests/integration/support/trackio.js";
import { fetchTokenizer } from "./fetch-tokenizer.js";
import { ROOT, fail } from "./lib.js";

const PROJECT = "trip-planner";
const RUN = { project: PROJECT, run: "qwen3-8b", run_id: "0f0e0d0c0b0a09080706050403020100" };

/** A call of verl as its client for Trackio writes it, with log-probabilities off. @param {any} call @param {number} index */
function entry({ name, inputs, outputs: { log_probs: _, ...outputs }, attributes }, index) {
  const messages = [
    { role: "system", content: `verl rollout trace operation: ${name}` },
    { role: "user", content: JSON.stringify({ inputs }) },
    { role: "assistant", content: JSON.stringify({ output: outputs }) },
  ];
  const metadata = { op: name, backend: "trackio", inputs, ...attributes, status: "success", output: outputs };
  const metrics = { [`rollout_trace/${name}`]: { _type: "trackio.trace", messages, metadata, spans: [] } };
  return { ...RUN, step: attributes.step, log_id: `call-${index}`, config: null, metrics };
}

const lines = readFileSync(join(ROOT, "tests/fixtures/captures/verl-calls-qwen3/calls.jsonl"), "utf8").trim().split("\n");
const calls = lines.map((line) => JSON.parse(line)).filter(({ name }) => name === "LLMServerClient.generate");
const logs = calls.slice(1, 2).map(entry);
const server = await new Trackio().start();
try {
  const { url, writeToken } = server;
  const result = await new TrackioExporter({ url, writeToken }).export(new TextEncoder().encode(JSON.stringify({ hf_token: null, logs })));
  if (result.status !== "success") fail(result.error.message);
  const command = ["trackio", "enrich", "--server", url, "--project", PROJECT, "--tokenizer", fetchTokenizer("qwen3"), "--drop-ids"];
  const { status, stderr } = await token2text(command, { env: { TRACKIO_WRITE_TOKEN: writeToken } });
  console.log(stderr);
  if (status !== 0) fail("the traces were not enriched");
  await withPage({ viewport: { width: 1280, height: 830 } }, async (page) => {
    await page.goto(`${url}/traces?project=${PROJECT}`);
    await page.getByPlaceholder("Search traces by request").fill("token2text");
    await page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
    await page.locator("tbody tr").click();
    await page.getByText("Conversation").waitFor();
    await page.screenshot({ path: join(ROOT, "docs/trackio.png") });
  });
} finally {
  await server.dispose();
}
