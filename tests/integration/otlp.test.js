/** The exporter for OTLP and its recipe in the package's README, against rotel. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { read, write } from "../../pkg/node.js";
import { toProtobuf } from "../../pkg/exporters/otlp-json.js";
import { OtlpExporter, preset } from "../../pkg/exporters/otlp-node.js";
import { byteIds, byteLevel, jsonBytes } from "../js/support/tokenizers.js";
import { freshId, request } from "./support/fixtures.js";
import { runRecipe } from "./support/recipe.js";
import { otlpClient, rotelServer } from "./support/rotel.js";

const PRINTED_URL = "http://127.0.0.1:4318";
const WIRE = new URL("../fixtures/wire/otlp/", import.meta.url);
const server = rotelServer();
const python = otlpClient();
before(() => server.start());
after(async () => {
  python.close();
  await server.dispose();
});

/** @param {string} output */
const body = (output) => request({ span: freshId(8), trace: freshId(16), attributes: { "mlflow.spanOutputs": output } });

/** Waits for what rotel prints of a span. @param {string} text */
async function printed(text) {
  for (const deadline = Date.now() + 10_000; !server.log().includes(text); await new Promise((resolve) => setTimeout(resolve, 50))) {
    assert.ok(Date.now() < deadline, `rotel has not printed ${text}\n${server.log()}`);
  }
}

test("protocol buffers, JSON, spans and gzip reach the server", async () => {
  const proto = body('"as protocol buffers"');
  const spans = await read(body('"as spans"'));
  const json = await write(await read(body('"as JSON"')), "otlp-json");
  const long = body(JSON.stringify(`in gzip${"!".repeat(5000)}`));
  for (const given of [proto, json, spans]) assert.deepEqual(await new OtlpExporter({ url: server.url }).export(given), { status: "success" });
  assert.deepEqual(await new OtlpExporter({ url: `${server.url}/v1/traces`, gzip: true }).export(long), { status: "success" });
  for (const text of ["as protocol buffers", "as spans", "as JSON", "in gzip!!!"]) await printed(text);
});

test("requests in JSON reach it in either encoding, with gzip and without", async () => {
  for (const encoding of /** @type {const} */ (["given", "protobuf"])) {
    for (const gzip of [false, true]) {
      const text = `JSON ${encoding} ${gzip}${"!".repeat(2000)}`;
      const json = await write(await read(body(JSON.stringify(text))), "otlp-json");
      assert.deepEqual(await new OtlpExporter({ url: server.url, encoding, gzip }).export(json), { status: "success" });
      await printed(`JSON ${encoding} ${gzip}!!`);
    }
  }
});

test("presets of collectors reach one, and what is added arrives", async () => {
  for (const options of [preset("jaeger", { url: server.url }), preset("tempo", { url: server.url, tenant: "me" }), preset("signoz", { url: server.url })]) {
    assert.deepEqual(await new OtlpExporter(options).export(body('"by a preset"')), { status: "success" });
  }
  const exporter = new OtlpExporter({ ...preset("phoenix", { url: server.url, project: "my project" }), url: server.url });
  assert.deepEqual(await exporter.export(body('"shown by its name"')), { status: "success" });
  for (const text of ["by a preset", "openinference.project.name", "my project", "output.value"]) await printed(text);
});

test("what the server does not take is a failure, and one that is not there can be tried again", async () => {
  const exporter = new OtlpExporter({ url: server.url, encoding: "given" });
  const broken = await exporter.export(new TextEncoder().encode('{"resourc'));
  assert.deepEqual([broken.status, "error" in broken && broken.error.code], ["failure", "refused"]);
  const elsewhere = await new OtlpExporter({ url: `${server.url}/elsewhere` }).export(body("[]"));
  assert.deepEqual([elsewhere.status, "httpStatus" in elsewhere && elsewhere.httpStatus], ["failure", 404]);
  await server.stop();
  const gone = await exporter.export(body("[]"));
  await server.start();
  assert.deepEqual([gone.status, "error" in gone && gone.error.code], ["retryable", "unreachable"]);
});

/** Every field, each oneof, both spellings of numbers, names of enumerations and fields, and what is not known. */
const ALL_FIELDS = `{"resource_spans":[{"schemaUrl":"r","resource":{"attributes":[{"key":"pid","value":{"intValue":"9223372036854775807"}}],
  "droppedAttributesCount":1,"unknown":{"a":[1]}},"scopeSpans":[{"scope":{"name":"n","version":"v","attributes":[{"key":"k","value":{"boolValue":false}}],
  "droppedAttributesCount":2},"schemaUrl":"s","spans":[{"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"eee19b7ec3c1b174","parentSpanId":"",
  "traceState":"a=b","name":"\\ud83d\\ude00 ü","kind":"SPAN_KIND_CLIENT","startTimeUnixNano":"1795959821228781779","endTimeUnixNano":1795959821228781780,
  "attributes":[{"key":"s","value":{"stringValue":""}},{"key":"i","value":{"intValue":-1}},{"key":"d","value":{"doubleValue":1e300}},
  {"key":"n","value":{"doubleValue":"NaN"}},{"key":"l","value":{"arrayValue":{"values":[{"intValue":1},{},{"doubleValue":2}]}}},{"key":"e","value":{"arrayValue":{}}},
  {"key":"m","value":{"kvlistValue":{"values":[{"key":"x","value":{"bytesValue":"AP/+"}}]}}},{"key":"none"}],"droppedAttributesCount":3,
  "events":[{"timeUnixNano":"5","name":"e","attributes":[{"key":"k","value":{"stringValue":"v"}}],"droppedAttributesCount":4}],"droppedEventsCount":5,
  "links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","traceState":"","flags":256,"attributes":[],"droppedAttributesCount":6}],
  "droppedLinksCount":7,"status":{"message":"bad","code":2},"flags":257}]}]}]}`;

test("requests in JSON become the same ones in protocol buffers, as OpenTelemetry's own classes read both", async () => {
  const recorded = ["js-json-llama2/01-v1-traces.json", "js-json-llama2/02-v1-traces.json", "synthetic-loose-json/body.json"];
  for (const json of [ALL_FIELDS, "{}", ...recorded.map((path) => readFileSync(new URL(path, WIRE), "utf8"))]) {
    const protobuf = Buffer.from(toProtobuf(new TextEncoder().encode(json))).toString("base64");
    assert.equal(await python.ask("same", json, protobuf), true);
  }
});

test("what is no request in JSON is told", () => {
  const span = (/** @type {string} */ members) => `{"resourceSpans":[{"scopeSpans":[{"spans":[{${members}}]}]}]}`;
  for (const wrong of ["", "[]", "5", "{", '{"resourceSpans":5}', '{"resourceSpans":[null]}', span('"traceId":"xy"'), span('"name":5'), span('"kind":"x"'), span('"startTimeUnixNano":1.5')]) {
    assert.throws(() => toProtobuf(new TextEncoder().encode(wrong)), { code: "invalid_body" }, wrong);
  }
});

test("the recipe does what it says", async () => {
  const commands = await runRecipe("OTLP", {
    printed: { [PRINTED_URL]: server.url },
    files: { "tokenizer.json": jsonBytes(byteLevel()), "request.pb": body(JSON.stringify({ token_ids: byteIds("text of the recipe") })) },
    also: ["node presets.mjs"],
  });
  assert.equal(commands, 1);
  await printed("text of the recipe");
});
