/** MLflow with its login: who may write, what is said to those who may not, and pages of another origin. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MlflowExporter, MlflowReader } from "../../pkg/exporters/mlflow.js";
import { withPage } from "../js/support/browser.js";
import { token2text } from "../js/support/cli.js";
import { freshId, qwen3, request, tokenizerFolder } from "./support/fixtures.js";
import { LOGIN, PythonClient, mlflowServer } from "./support/mlflow.js";

const open = mlflowServer();
const locked = mlflowServer({ auth: true });
const servers = { open, locked };
/** @type {Record<keyof typeof servers, PythonClient>} */
let python;
/** @type {import("../../pkg/node.js").Enricher} */
let enricher;
before(async () => {
  enricher = await qwen3();
  await open.start();
  await locked.start();
  const env = { MLFLOW_TRACKING_USERNAME: LOGIN.username, MLFLOW_TRACKING_PASSWORD: LOGIN.password };
  python = { open: new PythonClient(open.url), locked: new PythonClient(locked.url, env) };
});
after(async () => {
  for (const client of Object.values(python ?? {})) client.close();
  await open.dispose();
  await locked.dispose();
  await new Promise((resolve) => pages.close(resolve));
});

const IDS = [52491, 83592, 52549];
const output = `{"token_ids": [${IDS.join(", ")}]}`;
const body = (/** @type {string} */ trace) => request({ trace, span: freshId(8), attributes: { "mlflow.spanOutputs": output } });
/** @param {any} trace */
const textsOf = (trace) => Object.values(trace.spans).map(({ attributes }) => JSON.parse(attributes["mlflow.spanOutputs"]).response_text);

test("name and password write, read and enrich; also in the address", async () => {
  const trace = freshId(16);
  const result = await new MlflowExporter({ url: locked.url, experiment: "login", ...LOGIN }).export(body(trace));
  assert.equal(result.status, "success", "error" in result ? result.error.message : "");
  const url = locked.url.replace("://", `://${LOGIN.username}:${LOGIN.password}@`);
  const reader = new MlflowReader({ url, experiment: "login" });
  assert.equal((await reader.enrich(`tr-${trace}`, enricher, { mode: "in-place" })).status, "changed");
  const stored = await python.locked.ask("trace", `tr-${trace}`);
  assert.deepEqual(textsOf(stored), [stored.response]);
  assert.ok(!reader.address.includes(LOGIN.password));
});

test("a wrong password, none, and a token are refused in words, at once", async () => {
  for (const login of [{ username: "admin", password: "wrong" }, {}, { token: "x" }]) {
    const options = { url: locked.url, experiment: "login", ...login };
    const result = await new MlflowExporter(options).export(body(freshId(16)));
    assert.equal(result.status, "failure");
    assert.match("error" in result ? result.error.message : "", /wants a name and a password/);
    await assert.rejects(new MlflowReader(options).search().next(), { code: "refused", message: /wants a name and a password/ });
  }
});

test("the command reads the login from MLflow's variables", async () => {
  const args = ["mlflow", "enrich", "-t", tokenizerFolder];
  /** @param {Record<string, string>} env */
  const run = async (env) => {
    const before = { ...process.env };
    Object.assign(process.env, { MLFLOW_TRACKING_URI: locked.url, MLFLOW_EXPERIMENT_NAME: "login", MLFLOW_TRACKING_USERNAME: LOGIN.username, ...env });
    try {
      return await token2text(args);
    } finally {
      for (const key of Object.keys(process.env)) if (!(key in before)) delete process.env[key];
    }
  };
  const good = await run({ MLFLOW_TRACKING_PASSWORD: LOGIN.password, MLFLOW_TRACKING_TOKEN: "ignored" });
  assert.equal(good.status, 0, good.stderr);
  assert.match(good.stdout.toString(), /^tr-/);
  const bad = await run({ MLFLOW_TRACKING_PASSWORD: "wrong" });
  assert.equal(bad.status, 2);
  assert.match(bad.stderr, /^token2text: .* wants a name and a password/);
});

const PKG = fileURLToPath(new URL("../../pkg/", import.meta.url));
/** @type {Record<string, string>} */
const TYPES = { ".js": "text/javascript", ".wasm": "application/wasm", ".json": "application/json" };
/** The package and a tokenizer, on an origin of their own. */
const pages = createServer(({ url = "/" }, response) => {
  const path = new URL(url, "http://localhost").pathname;
  if (path === "/") return void response.setHeader("content-type", "text/html").end("<!doctype html><link rel=icon href=data:,><title>page</title>");
  const file = path === "/tokenizer.json" ? join(tokenizerFolder, "tokenizer.json") : join(PKG, path);
  response.setHeader("content-type", TYPES[extname(file)] ?? "text/plain").end(readFileSync(file));
});

test("a page of another port enriches a body and sends it, and gives text to what is stored", async () => {
  await new Promise((resolve) => pages.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (pages.address());
  for (const [name, login] of /** @type {const} */ ([["open", {}], ["locked", LOGIN]])) {
    const [sent, stored] = [freshId(16), freshId(16)];
    const options = { url: servers[name].url, experiment: "page", ...login };
    await new MlflowExporter(options).export(body(stored));
    const outcome = await withPage({}, async (page) => {
      await page.goto(`http://localhost:${port}/`);
      return page.evaluate(inPage, { options, body: [...body(sent)], stored: `tr-${stored}` });
    });
    // A login keeps pages away from OTLP: a file is uploaded, and what is in the database is annotated.
    const isOpen = name === "open";
    assert.deepEqual(outcome, { exported: "success", inPlace: isOpen ? "changed" : "cross-origin", annotated: "changed" }, name);
    const [uploaded, annotated] = [await python[name].ask("trace", `tr-${sent}`), await python[name].ask("trace", `tr-${stored}`)];
    const [text] = textsOf(uploaded);
    assert.ok(text.length > 0);
    assert.equal(uploaded.response, text);
    assert.equal(uploaded.tags["mlflow.trace.spansLocation"] === undefined, !isOpen);
    assert.deepEqual(textsOf(annotated), [isOpen ? text : undefined]);
    assert.deepEqual(annotated.assessments.map((/** @type {unknown[]} */ assessment) => assessment[2]), [text]);
  }
});

/**
 * Runs in the page.
 *
 * @param {{ options: import("../../pkg/exporters/mlflow-client.js").MlflowOptions, body: number[], stored: string }} given
 */
async function inPage({ options, body, stored }) {
  /** @type {(path: string) => Promise<any>} */
  const load = (path) => import(path);
  const { Enricher, Tokenizer, init } = await load("/index.js");
  const { MlflowExporter, MlflowReader } = await load("/exporters/mlflow.js");
  await init();
  const enricher = new Enricher(await Tokenizer.load("/tokenizer.json"));
  const result = await new MlflowExporter(options).export(enricher.enrichBody(Uint8Array.from(body)).body);
  const reader = new MlflowReader(options);
  const inPlace = await reader.enrich(stored, enricher, { mode: "in-place" });
  const annotated = await reader.enrich(stored, enricher, { mode: "annotate" });
  return { exported: result.error?.message ?? result.status, inPlace: inPlace.reason ?? inPlace.status, annotated: annotated.status };
}
