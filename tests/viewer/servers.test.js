/** Traces on real servers: Trackio serves the page itself, MLflow is read through `token2text view`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { MlflowExporter } from "../../pkg/exporters/mlflow-node.js";
import { TrackioExporter } from "../../pkg/exporters/trackio.js";
import { read } from "../../pkg/node.js";
import { mlflowServer } from "../integration/support/mlflow.js";
import { Trackio } from "../integration/support/trackio.js";
import { token2text } from "../js/support/cli.js";
import { fixture, temporaryFolder, tokenizerOf } from "./support/fixtures.js";
import { startView } from "./support/serve.js";
import { drop, openRollout, rowsOf, waitForRollouts, withViewer } from "./support/viewer.js";

/** @typedef {import("playwright-core").Page} Page */

const { folder } = temporaryFolder();
const QWEN = tokenizerOf("qwen3");
const frontend = join(folder, "frontend");
const trackio = new Trackio({ frontend });
const mlflow = mlflowServer();
before(async () => {
  const { status, stderr } = await token2text(["view", "--export", frontend]);
  assert.equal(status, 0, stderr);
  await Promise.all([trackio.start(), mlflow.start()]);
});
after(() => Promise.all([trackio.dispose(), mlflow.dispose()]));

/** @param {Page} page @param {string} kind @param {Record<string, string>} fields */
async function openServer(page, kind, fields) {
  await page.getByRole("tab", { name: kind }).click();
  const form = page.locator("t2t-server-form");
  for (const [label, text] of Object.entries(fields)) await form.getByLabel(label, { exact: true }).fill(text);
  await form.getByRole("button", { name: "Open" }).click();
}

/** @param {Page} page */
async function assertReadable(page) {
  await openRollout(page);
  await page.locator("t2t-chat .content").first().waitFor();
  const shown = (await page.locator("t2t-chat .content").allInnerTexts()).join("");
  assert.match(shown, /京都|Kyoto|archivist|Osaka/);
}

test("Trackio serves the page as its frontend, and the page opens a project of the same origin", async () => {
  const { kwargs } = JSON.parse(readFileSync(fixture("captures/trackio-verl-qwen3-ids/01-bulk-log.json"), "utf8"));
  const { project } = kwargs.logs[0];
  const exporter = new TrackioExporter({ url: trackio.url, writeToken: trackio.writeToken });
  assert.deepEqual(await exporter.export(new TextEncoder().encode(JSON.stringify(kwargs))), { status: "success" });
  // Its server writes a script of its own into the page, which the page's policy does not let run.
  await withViewer({ url: `${trackio.url}/`, expected: /inline/ }, async (page) => {
    await drop(page, [QWEN]);
    await page.getByText("151,669 tokens").waitFor();
    await openServer(page, "Trackio", { Project: project });
    await rowsOf(page).first().waitFor();
    await assertReadable(page);
  });
});

test("MLflow's traces are opened by experiment and filter", async () => {
  const experiment = await create(mlflow.url, "rollouts");
  const exporter = new MlflowExporter({ url: mlflow.url, experimentId: experiment });
  /** When each trace began, in milliseconds. @type {number[]} */
  const starts = [];
  for (const file of ["02-v1-traces.pb", "06-v1-traces.pb"]) {
    const body = readFileSync(fixture(`wire/mlflow/verl-qwen3-ids/${file}`));
    const spans = await read(body, { url: "/v1/traces", contentType: "application/x-protobuf" });
    starts.push(Number(spans.map(({ startUnixNano }) => BigInt(startUnixNano ?? 0)).toSorted((a, b) => (a < b ? -1 : 1))[0] / 1_000_000n));
    const result = await exporter.export(body);
    assert.equal(result.status, "success", JSON.stringify(result));
  }
  const server = await startView(["--mlflow", mlflow.url, "-t", QWEN]);
  try {
    await withViewer({ url: server.url, expected: /4\d\d/ }, async (page) => {
      await page.getByText("151,669 tokens").waitFor();
      await openServer(page, "MLflow", { Server: `${server.origin}/mlflow`, Experiment: "rollouts" });
      await waitForRollouts(page, 2);
      await assertReadable(page);
      await page.keyboard.press("o");
      await openServer(page, "MLflow", { Server: `${server.origin}/mlflow`, Experiment: experiment, "At most": "1" });
      await waitForRollouts(page, 1);
      await page.keyboard.press("o");
      const filtered = { Server: `${server.origin}/mlflow`, Experiment: "rollouts", Filter: `trace.timestamp_ms > ${Math.min(...starts)}` };
      await openServer(page, "MLflow", filtered);
      await waitForRollouts(page, 1);
      await page.keyboard.press("o");
      await openServer(page, "MLflow", { Server: `${server.origin}/mlflow`, Experiment: "no such experiment" });
      await page.getByRole("alert").first().waitFor();
    });
  } finally {
    await server.stop();
  }
});

/** @param {string} url @param {string} name @returns {Promise<string>} The id of a new experiment. */
async function create(url, name) {
  const response = await fetch(`${url}/api/2.0/mlflow/experiments/create`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name }) });
  return (await response.json()).experiment_id;
}
