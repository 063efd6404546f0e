/** The preset `phoenix` against Phoenix's own server: what its API gives of the spans that it has stored. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Enricher, Tokenizer, read, write } from "../../pkg/node.js";
import { OtlpExporter, preset } from "../../pkg/exporters/otlp-node.js";
import { tokenizerFolder } from "../integration/support/fixtures.js";
import { Server, freePort } from "../integration/support/servers.js";

/** What Phoenix takes for an API key too. */
const KEY = "tests-of-token2text-0123456789-abcdefghij";
const PHOENIX = fileURLToPath(new URL("../../.cache/venv-phoenix/bin/phoenix", import.meta.url));
const CALLS = readFileSync(new URL("../fixtures/captures/verl-calls-qwen3/calls.jsonl", import.meta.url));
/** What Python's tokenizers makes of the same ids. @type {{ text: string, kind: string }[]} */
const EXPECTED = JSON.parse(readFileSync(new URL("../fixtures/captures/verl-calls-qwen3/expected.json", import.meta.url), "utf8"));

/** @type {Server} */
const server = new Server({
  name: "phoenix",
  // Without a folder of its own it keeps spans in the home of the user.
  command: (port) => ["env", `PHOENIX_WORKING_DIR=${server.folder}`, PHOENIX, "serve", "--host", "127.0.0.1", "--port", String(port)],
  env: { PHOENIX_HOST: "127.0.0.1", PHOENIX_TELEMETRY_ENABLED: "false", PHOENIX_ENABLE_AUTH: "true", PHOENIX_SECRET: `${KEY}-secret`, PHOENIX_ADMIN_SECRET: KEY, PHOENIX_GRPC_PORT: String(await freePort()) },
  health: "/healthz",
});
const enricher = await Enricher.create(await Tokenizer.load(join(tokenizerFolder, "tokenizer.json")), { messages: true });
before(() => server.start());
after(() => server.dispose());

/** The spans with their texts. Phoenix stores an id once, whatever the project. @param {string} prefix Of ids. @param {"otlp-json" | "otlp-proto"} format */
async function request(prefix, format) {
  const spans = (await read(CALLS)).map((span, i) => ({ ...span, traceId: prefix, spanId: `${prefix} ${i}` }));
  return enricher.enrichBody(await write(spans, format)).body;
}

/** The spans of a project, once so many are stored. @param {string} project @param {number} count @returns {Promise<any[]>} */
async function stored(project, count) {
  for (const deadline = Date.now() + 30_000; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
    const response = await fetch(`${server.url}/v1/projects/${project}/spans?limit=1000`, { headers: { authorization: `Bearer ${KEY}` } });
    const { data = [] } = response.ok ? await response.json() : {};
    if (data.length >= count) return data;
    assert.ok(Date.now() < deadline, `${data.length} of ${count} spans in ${project}\n${server.log()}`);
  }
}

test("the page's input and output are the texts, and what the span has is there too", async () => {
  for (const [project, format, gzip] of /** @type {const} */ ([["one", "otlp-json", true], ["other", "otlp-proto", false]])) {
    const body = await request(project, format);
    const result = await new OtlpExporter({ ...preset("phoenix", { url: server.url, apiKey: KEY, project }), gzip }).export(body);
    assert.deepEqual(result, { status: "success" });
    const given = await read(body);
    const spans = await stored(project, given.length);
    assert.equal(spans.length, given.length);
    const shown = spans.flatMap(({ attributes }) => [attributes["input.value"], attributes["output.value"]]);
    assert.equal(shown.filter((text) => typeof text === "string" && text !== "").length, 2 * given.length);
    for (const { text } of EXPECTED) assert.ok(shown.includes(text), `not shown: ${text}`);
    const generated = spans.filter(({ name }) => name === "LLMServerClient.generate");
    assert.ok(generated.length > 0 && generated.every(({ span_kind }) => span_kind === "LLM"));
    for (const { attributes } of spans) assert.ok(given.some(({ inputs, output }) => attributes["mlflow.spanInputs"] === inputs && attributes["mlflow.spanOutputs"] === output));
  }
});

test("without the preset the same spans have neither", async () => {
  assert.equal((await new OtlpExporter({ url: server.url, token: KEY }).export(await request("plain", "otlp-proto"))).status, "success");
  const spans = await stored("default", 14);
  assert.ok(spans.every(({ attributes, span_kind }) => !("input.value" in attributes) && span_kind === "UNKNOWN"));
});

test("it takes no JSON, and says so", async () => {
  const result = await new OtlpExporter({ url: server.url, token: KEY, encoding: "given" }).export(await request("json", "otlp-json"));
  assert.deepEqual([result.status, "httpStatus" in result && result.httpStatus], ["failure", 415]);
});

test("it takes nothing without the key", async () => {
  const result = await new OtlpExporter(preset("phoenix", { url: server.url })).export(await request("unknown", "otlp-proto"));
  assert.deepEqual([result.status, "httpStatus" in result && result.httpStatus], ["failure", 401]);
});
