/** The exporter for OTLP: what it makes of addresses and answers. tests/integration has it with a real server. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { beforeEach, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { OtlpExporter, preset } from "../../pkg/exporters/otlp-node.js";
import { PRESET_NAMES } from "../../pkg/exporters/otlp-presets.js";
import { listening } from "./support/server.js";

const PROTOBUF = "application/x-protobuf";
const JSON_TYPE = "application/json; charset=utf-8";
/** Answers in protocol buffers, as Python's opentelemetry-proto and googleapis-common-protos write them. */
const REJECTED = "0a0b0803120774726f75626c65";
const WARNING = "0a061204736c6f77";
const UNSET = "0a00";
const STATUS = "0803120a6120626164207370616e";

/** @typedef {{ status: number, type?: string, headers?: Record<string, string>, body?: string | Buffer }} Answer */
/** @type {Answer} */
let answer = { status: 200 };
/** @type {{ path?: string, headers: import("node:http").IncomingHttpHeaders, body: Buffer }[]} */
let seen = [];
let url = "";
const server = createServer(async (incoming, response) => {
  const body = Buffer.concat(await incoming.toArray());
  seen.push({ path: incoming.url, headers: incoming.headers, body });
  const { status, type = PROTOBUF, headers } = answer;
  response.writeHead(status, { "content-type": type, ...headers }).end(answer.body);
});
listening(server, (at) => (url = at));
beforeEach(() => {
  seen = [];
  answer = { status: 200 };
});

/** @param {Answer} given @param {object} [options] @param {Uint8Array} [body] */
async function exported(given, options, body = Uint8Array.of(0x0a, 0)) {
  answer = given;
  const result = await new OtlpExporter({ url, ...options }).export(body);
  return "error" in result ? { ...result, error: `${result.error.code}: ${result.error.message.replaceAll(url, "")}` } : result;
}

test("the path is added as for OTEL_EXPORTER_OTLP_ENDPOINT", async () => {
  const paths = { "": "/v1/traces", "/": "/v1/traces", "/v1/traces": "/v1/traces", "/otel": "/otel/v1/traces", "/otel/": "/otel/v1/traces" };
  for (const [given, path] of Object.entries({ ...paths, "/a?b=c": "/a/v1/traces?b=c" })) {
    seen = [];
    await exported({ status: 200 }, { url: url + given });
    assert.deepEqual(seen.map((request) => request.path), [path], given);
  }
});

test("an address that is none, and an unknown option, are mistakes", () => {
  for (const wrong of [undefined, "", "localhost:4318", "grpc://127.0.0.1:4317", "/v1/traces"]) {
    assert.throws(() => new OtlpExporter(/** @type {any} */ ({ url: wrong })), { code: "invalid_options" }, String(wrong));
  }
  assert.throws(() => new OtlpExporter(/** @type {any} */ ({ url, endpoint: url })), { code: "invalid_options" });
});

test("headers, tokens and passwords are sent; the encoding is that of the body if it is to be", async () => {
  await exported({ status: 200 }, { headers: { "x-scope-orgid": "me" }, token: "secret" });
  await exported({ status: 200 }, { url: url.replace("//", "//name:pass%20word@"), encoding: "given" }, new TextEncoder().encode("{}"));
  await exported({ status: 200 }, { headers: { authorization: "bare" }, gzip: true }, new Uint8Array(2000).fill(0x0a));
  const [first, second, third] = seen;
  assert.deepEqual([first.headers.authorization, first.headers["x-scope-orgid"], first.headers["content-type"]], ["Bearer secret", "me", PROTOBUF]);
  assert.deepEqual([second.headers.authorization, second.headers["content-type"]], [`Basic ${btoa("name:pass word")}`, "application/json"]);
  assert.deepEqual([third.headers.authorization, third.headers["content-encoding"]], ["bare", "gzip"]);
  assert.deepEqual(gunzipSync(third.body), Buffer.alloc(2000, 0x0a));
});

test("without a word, what is sent is protocol buffers", async () => {
  await exported({ status: 200 }, {}, new TextEncoder().encode('{"resourceSpans":[{"schemaUrl":"a"}]}'));
  assert.deepEqual([seen[0].headers["content-type"], seen[0].body.toString("hex")], [PROTOBUF, "0a031a0161"]);
});

test("the content type can be given, for a body that begins as the other encoding does", async () => {
  await new OtlpExporter({ url, encoding: "given" }).export(new TextEncoder().encode('\n{"resourceSpans":[]}'), { contentType: "application/json" });
  assert.equal(seen[0].headers["content-type"], "application/json");
});

test("a success, and one with a warning", async () => {
  const success = { status: "success" };
  assert.deepEqual(await exported({ status: 200 }), success);
  assert.deepEqual(await exported({ status: 200, body: Buffer.from(UNSET, "hex") }), success);
  assert.deepEqual(await exported({ status: 200, type: JSON_TYPE, body: '{"partialSuccess":null}' }), success);
  assert.deepEqual(await exported({ status: 202, type: "text/plain", body: "stored" }), success);
  assert.deepEqual(await exported({ status: 200, body: Buffer.from("0a99", "hex") }), success);
  const warned = { status: "success", warning: "slow" };
  assert.deepEqual(await exported({ status: 200, body: Buffer.from(WARNING, "hex") }), warned);
  assert.deepEqual(await exported({ status: 200, type: JSON_TYPE, body: '{"partialSuccess":{"errorMessage":"slow"}}' }), warned);
});

test("rejected spans are a failure that tells their number", async () => {
  const rejected = { status: "failure", error: "refused: /v1/traces rejected 3 spans: trouble", httpStatus: 200, rejectedSpans: 3 };
  assert.deepEqual(await exported({ status: 200, body: Buffer.from(REJECTED, "hex") }), rejected);
  for (const number of ["3", '"3"']) {
    const body = `{"partialSuccess":{"rejectedSpans":${number},"errorMessage":"trouble"}}`;
    assert.deepEqual(await exported({ status: 200, type: JSON_TYPE, body }), rejected);
  }
});

test("only four statuses can be tried again, after the time that the server asks for", async () => {
  for (const status of [429, 502, 503, 504]) {
    const result = await exported({ status, headers: { "retry-after": "7" } });
    assert.deepEqual([result.status, "retryAfterMs" in result && result.retryAfterMs], ["retryable", 7000], String(status));
  }
  for (const status of [400, 401, 403, 404, 408, 413, 415, 500, 501]) {
    const result = await exported({ status, headers: { "retry-after": "7" } });
    assert.deepEqual([result.status, "httpStatus" in result && result.httpStatus], ["failure", status]);
  }
});

test("an error has the words of the server, in either encoding", async () => {
  const error = "refused: POST /v1/traces: status 400: a bad span";
  const inProtobuf = await exported({ status: 400, body: Buffer.from(STATUS, "hex") });
  const inJson = await exported({ status: 400, type: JSON_TYPE, body: '{"code":3,"message":"a bad span"}' });
  assert.deepEqual(["error" in inProtobuf && inProtobuf.error, "error" in inJson && inJson.error], [error, error]);
});

test("what is no request is told, not thrown", async () => {
  const exporter = new OtlpExporter({ url });
  for (const [given, code] of /** @type {const} */ ([["text", "invalid_body"], [Uint8Array.of(0x1f, 0x8b, 8), "compressed_input"]])) {
    const result = await exporter.export(/** @type {any} */ (given));
    assert.deepEqual([result.status, "error" in result && result.error.code], ["failure", code]);
  }
  assert.deepEqual(seen, []);
});

/** What is given, the default address, and what is sent: the path, and headers. @type {{ [Name in keyof import("../../pkg/exporters/otlp.js").Presets]: [given: any, address: string, path: string, headers: Record<string, string>] }} */
const PRESETS = {
  langfuse: [
    { publicKey: "pk-lf-1", secretKey: "sk-lf-2" },
    "https://cloud.langfuse.com/api/public/otel",
    "/api/public/otel/v1/traces",
    { authorization: "Basic cGstbGYtMTpzay1sZi0y", "x-langfuse-ingestion-version": "4" },
  ],
  phoenix: [{ apiKey: "k" }, "http://127.0.0.1:6006", "/v1/traces", { authorization: "Bearer k" }],
  langsmith: [{ apiKey: "k", project: "p" }, "https://api.smith.langchain.com/otel", "/otel/v1/traces", { "x-api-key": "k", "langsmith-project": "p" }],
  logfire: [{ token: "t", region: "eu" }, "https://logfire-eu.pydantic.dev", "/v1/traces", { authorization: "t" }],
  signoz: [{ ingestionKey: "k", region: "us" }, "https://ingest.us.signoz.cloud", "/v1/traces", { "signoz-ingestion-key": "k" }],
  jaeger: [{}, "http://127.0.0.1:4318", "/v1/traces", {}],
  tempo: [{ tenant: "me" }, "http://127.0.0.1:4318", "/v1/traces", { "x-scope-orgid": "me" }],
  weave: [{ apiKey: "k", project: "e/p" }, "https://trace.wandb.ai/otel", "/otel/v1/traces", { "wandb-api-key": "k", project_id: "e/p" }],
};

for (const [name, [given, address, path, headers]] of Object.entries(PRESETS)) {
  test(`the preset ${name}`, async () => {
    const known = /** @type {"jaeger"} */ (name);
    assert.equal(preset(known, given).url, address);
    for (const at of [url, `${url}/`, url + path, url + path.replace("/v1/traces", "")]) {
      const result = await new OtlpExporter(preset(known, { ...given, url: at })).export(new Uint8Array());
      assert.equal(result.status, "success");
    }
    for (const request of seen) {
      assert.deepEqual([request.path, request.headers["content-type"]], [path, PROTOBUF]);
      for (const [header, value] of Object.entries(headers)) assert.equal(request.headers[header], value);
    }
    assert.equal(seen.length, 4);
  });
}

test("presets tell what is missing, unknown or of another kind", () => {
  for (const [name, given, words] of /** @type {[any, any, RegExp][]} */ ([
    ["datadog", {}, /there is no preset "datadog"; there are langfuse, phoenix/],
    ["constructor", {}, /there is no preset/],
    ["langfuse", undefined, /the preset langfuse needs `publicKey`/],
    ["langfuse", { publicKey: "a" }, /the preset langfuse needs `secretKey`/],
    ["phoenix", { token: "a" }, /the preset phoenix has no option `token`; it has `apiKey`, `project`, `url`/],
    ["logfire", { token: "" }, /`token` of the preset logfire is a text, not ""/],
    ["tempo", { tenant: 5 }, /`tenant` of the preset tempo is a text, not 5/],
    ["weave", { apiKey: "a", project: "p" }, /"entity\/project", not "p"/],
  ])) {
    assert.throws(() => preset(name, given), { code: "invalid_options", message: words });
  }
  assert.throws(() => new OtlpExporter(/** @type {any} */ ({ url, shownAs: "langfuse" })), { code: "invalid_options", message: /"openinference" or "langsmith"/ });
  assert.throws(() => new OtlpExporter(/** @type {any} */ ({ url, encoding: "json" })), { code: "invalid_options" });
});

test("README's table has the presets", () => {
  const readme = readFileSync(new URL("../../pkg/README.md", import.meta.url), "utf8");
  assert.deepEqual(Array.from(readme.matchAll(/^\| `(\w+)` \|.*(?:from its documentation|against rotel|on 20\d\d-\d\d-\d\d).* \|$/gm), ([, name]) => name), PRESET_NAMES);
  assert.deepEqual(Object.keys(PRESETS), PRESET_NAMES);
});
