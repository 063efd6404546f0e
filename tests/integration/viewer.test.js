/** The viewer reads from real servers: Trackio that serves it itself, Trackio and MLflow through `token2text view`, MLflow as a page of localhost may. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { backendsOf } from "../../pkg/cli/view-backends.js";
import { serveViewer } from "../../pkg/cli/view-server.js";
import { MlflowExporter } from "../../pkg/exporters/mlflow.js";
import { TrackioExporter } from "../../pkg/exporters/trackio.js";
import { read } from "../../pkg/node.js";
import { withPage } from "../js/support/browser.js";
import { token2text } from "../js/support/cli.js";
import { mlflowServer } from "./support/mlflow.js";
import { Trackio } from "./support/trackio.js";

const SAMPLE = new URL("../../pkg/sample/", import.meta.url);
const NAME = "viewer";
/** More than one page of what is asked for at a time. */
const TIMES = 10;

const folder = mkdtempSync(join(tmpdir(), "token2text-frontend-"));
const frontend = join(folder, "page");
const tokenizer = join(folder, "tokenizer.t2t");
writeFileSync(tokenizer, readFileSync(new URL("tokenizer.t2t", SAMPLE)));
const written = await token2text(["view", "--tokenizer", tokenizer, "--export", frontend]);
assert.equal(written.status, 0, written.stderr);

const trackio = new Trackio({ frontend });
const mlflow = mlflowServer();
/** @type {Awaited<ReturnType<typeof serveViewer>>} */
let viewer;
/** The sample so often, each time with other ids of traces. */
async function spans() {
  const once = await read(readFileSync(new URL("rollouts.jsonl", SAMPLE)));
  return Array.from({ length: TIMES }, (_, i) => once.map((span) => ({ ...span, traceId: `${(i + 1).toString(16).padStart(4, "0")}${span.traceId.slice(4)}` }))).flat();
}

before(async () => {
  await Promise.all([trackio.start(), mlflow.start()]);
  const { url, writeToken } = trackio;
  const logged = [
    await new TrackioExporter({ url, writeToken, project: NAME, run: "r" }).export(await spans()),
    await new MlflowExporter({ url: mlflow.url, experiment: NAME }).export(await spans()),
  ];
  assert.deepEqual(logged.map(({ status }) => status), ["success", "success"], JSON.stringify(logged));
  const backends = backendsOf({ mlflow: mlflow.url, trackio: url }, {});
  viewer = await serveViewer({ port: 0, files: new Map([["given/tokenizer.t2t", tokenizer]]), backends });
});
after(async () => {
  await viewer?.close();
  await Promise.all([trackio.dispose(), mlflow.dispose()]);
  rmSync(folder, { recursive: true });
});

/**
 * Opens traces of a server as a person does, until the list has all of them, and a rollout its text.
 *
 * @param {string} address Of the page.
 * @param {"MLflow" | "Trackio"} kind
 * @param {Record<string, string>} fields
 */
function opened(address, kind, fields) {
  // Trackio puts a script for its own reloading into pages, which the viewer's policy stops.
  return withPage({ ignored: /inline script/ }, async (page) => {
    await page.goto(address);
    await page.getByRole("tab", { name: kind }).click();
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(value);
    await page.getByRole("button", { name: "Open", exact: true }).last().click();
    // It is also said to those who do not see it.
    await page.getByText(`${12 * TIMES} rollouts`, { exact: true }).filter({ visible: true }).first().waitFor();
    await page.keyboard.press("n");
    await page.getByText(/You translate|You are a careful assistant/).first().waitFor();
  });
}

test("Trackio serves the folder, and the page reads from beside itself", async () => {
  await opened(`${trackio.url}/?tokenizer=given/tokenizer-1/tokenizer.t2t`, "Trackio", { Project: NAME });
});

test("Trackio through the command's server", async () => {
  await opened(`${viewer.url}?tokenizer=given/tokenizer.t2t`, "Trackio", { Server: `${viewer.url}trackio`, Project: NAME });
});

test("MLflow through the command's server", async () => {
  await opened(`${viewer.url}?tokenizer=given/tokenizer.t2t`, "MLflow", { Server: `${viewer.url}mlflow`, Experiment: NAME });
});

test("MLflow itself, for a page of this machine", async () => {
  await opened(`${viewer.url}?tokenizer=given/tokenizer.t2t`, "MLflow", { Server: mlflow.url, Experiment: NAME });
});
