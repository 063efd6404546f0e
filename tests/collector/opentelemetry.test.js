/** The span exporter around those of OpenTelemetry's SDK 2.x, and its recipe in the package's README. Of 3.x, tests/packaging. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { SpanKind, context, trace } from "@opentelemetry/api";
import { JsonTraceSerializer, ProtobufTraceSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BasicTracerProvider, BatchSpanProcessor, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { Enricher, Tokenizer, read, write } from "../../pkg/node.js";
import { Token2TextSpanExporter } from "../../pkg/exporters/opentelemetry.js";
import { runRecipe } from "../integration/support/recipe.js";
import { rotelServer } from "../integration/support/rotel.js";
import { byteIds, byteLevel, chatMl, jsonBytes } from "../js/support/tokenizers.js";
import { readableSpans } from "./support/readable-spans.js";

/** @typedef {import("@opentelemetry/sdk-trace-base").ReadableSpan} ReadableSpan */
/** @typedef {import("@opentelemetry/sdk-trace-base").SpanExporter} SpanExporter */
/** @typedef {import("@opentelemetry/api").Attributes} Attributes */

const FIXTURES = new URL("../fixtures/", import.meta.url);
const tokenizer = Tokenizer.fromBytes(jsonBytes(byteLevel()));
const chatty = Tokenizer.fromBytes(jsonBytes(chatMl()));
const ids = byteIds("Hello");
const RESULT = JSON.stringify({ token_ids: ids, log_probs: [-0.5], n: 12345678901234567890n.toString() });

/** Spans that the SDK has made. @param {(tracer: import("@opentelemetry/api").Tracer) => void} make @param {Attributes} [resource] */
function made(make, resource = {}) {
  const memory = new InMemorySpanExporter();
  make(new BasicTracerProvider({ resource: resourceFromAttributes(resource), spanProcessors: [new SimpleSpanProcessor(memory)] }).getTracer("tests", "1"));
  return memory.getFinishedSpans();
}

/** @param {Attributes} attributes @param {Attributes} [ofEvent] */
function spanWith(attributes, ofEvent) {
  const [span] = made((tracer) => {
    const span = tracer.startSpan("generate", { attributes });
    if (ofEvent) span.addEvent("empty").addEvent("first", ofEvent);
    span.end();
  });
  return span;
}

/** What the other exporter gets, and what was told. @param {ReadableSpan[]} spans @param {any} [enricher] @param {object} [options] */
function exported(spans, enricher = tokenizer, options = {}) {
  /** @type {ReadableSpan[]} */
  let passed = [];
  /** @type {import("../../pkg/exporters/opentelemetry.js").Told<ReadableSpan>[]} */
  const told = [];
  /** @type {number[]} */
  const codes = [];
  const inner = { export: (/** @type {ReadableSpan[]} */ given, /** @type {any} */ callback) => ((passed = given), callback({ code: 0 })), shutdown: async () => {} };
  const exporter = new Token2TextSpanExporter(inner, enricher, { ...options, onReport: (one) => void told.push(one) });
  exporter.export(spans, ({ code }) => void codes.push(code));
  assert.deepEqual(codes, [0]);
  return { passed, told };
}

const OPTIONS = { default: {}, "ids that go": { ids: "drop" }, "short texts": { maxTextChars: 3 }, "text in place of text": { existing: "replace" }, messages: { messages: true } };

/** @type {Record<string, () => ReadableSpan[] | Promise<ReadableSpan[]>>} */
const SPANS = {
  "of the SDK": () => made((tracer) => {
    const parent = tracer.startSpan("rollout", { kind: SpanKind.CLIENT, attributes: { "mlflow.spanOutputs": RESULT, "mlflow.spanInputs": '{"prompt_ids": [72, 105]}' } });
    tracer.startSpan("flat", { attributes: { prompt_token_ids: ids, response_token_ids: ids, a: 0.5, b: -3, c: true, d: [true, false], e: ["x", "y"], f: [0.5, -1], g: 2 ** 40, h: "" } }, trace.setSpan(context.active(), parent)).end();
    tracer.startSpan("with text", { attributes: { "output.value": JSON.stringify({ response_text: "Hello", response_ids: ids }) } }).end();
    tracer.startSpan("with another text", { attributes: { "output.value": JSON.stringify({ response_text: "Bye", response_ids: ids }) } }).end();
    tracer.startSpan("bad", { attributes: { "mlflow.spanOutputs": '{"token_ids": [1, -5]}', "input.value": "ü\u{1F600}" } }).end();
    tracer.startSpan("events", { attributes: { a: 1 } }).addEvent("none").addEvent("ids", { prompt_ids: ids, token_ids: ids }, [1, 2]).end();
    tracer.startSpan("GET", { attributes: { "http.status_code": 200 } }).end();
    tracer.startSpan("nothing").end();
    parent.end();
  }, { "service.name": "trainer", "gen_ai.request.model": "Qwen/Qwen3" }),
  "recorded of OpenTelemetry's SDK": () => readableSpans(readFileSync(new URL("wire/otlp/js-json-llama2/01-v1-traces.json", FIXTURES))),
  "recorded, loosely spelled": () => readableSpans(readFileSync(new URL("wire/otlp/synthetic-loose-json/body.json", FIXTURES))),
  "recorded of verl": async () => readableSpans(await write(await read(readFileSync(new URL("captures/verl-calls-qwen3/calls.jsonl", FIXTURES))), "otlp-json")),
};

describe("the texts are those that enrichBody writes into the OTLP of the same spans, byte for byte", () => {
  for (const [name, spansOf] of Object.entries(SPANS)) {
    for (const [kind, options] of Object.entries(OPTIONS)) {
      test(`${name}: ${kind}`, async () => {
        const enricher = await Enricher.create({ "Qwen/*": chatty, "*": chatty }, /** @type {any} */ (options));
        const spans = await spansOf();
        const before = JSON.stringify(spans.map(({ attributes, events }) => ({ attributes, events })));
        const { passed } = exported(spans, enricher);
        for (const serializer of [ProtobufTraceSerializer, JsonTraceSerializer]) {
          const [given, now] = [spans, passed].map((list) => Buffer.from(/** @type {Uint8Array} */ (serializer.serializeRequest(list))));
          const { body } = enricher.enrichBody(given);
          assert.ok(!given.equals(body), "nothing is written");
          assert.equal(now.toString("latin1"), Buffer.from(body).toString("latin1"));
        }
        assert.equal(JSON.stringify(spans.map(({ attributes, events }) => ({ attributes, events }))), before);
      });
    }
  }
});

test("a span with ids is a copy that is the span in all else, any other the very same", () => {
  const spans = made((tracer) => {
    tracer.startSpan("generate", { attributes: { "mlflow.spanOutputs": RESULT, rest: [1] }, links: [{ context: { traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 } }] }).end();
    tracer.startSpan("GET", { attributes: { "http.status_code": 200 } }).end();
    tracer.startSpan("nothing").end();
  });
  const { passed, told } = exported(spans);
  const [copy, ...others] = passed;
  assert.deepEqual([copy !== spans[0], others[0] === spans[1], others[1] === spans[2]], [true, true, true]);
  assert.deepEqual(JSON.parse(String(copy.attributes["mlflow.spanOutputs"])), { response_text: "Hello", ...JSON.parse(RESULT) });
  assert.equal(Object.getPrototypeOf(copy), Object.getPrototypeOf(spans[0]));
  assert.deepEqual({ ...copy }, { ...spans[0], attributes: copy.attributes });
  assert.deepEqual(copy.spanContext(), spans[0].spanContext());
  for (const key of /** @type {const} */ (["resource", "links", "events", "instrumentationScope", "status", "startTime", "duration", "name"])) assert.equal(copy[key], spans[0][key], key);
  assert.equal(copy.attributes.rest, spans[0].attributes.rest);
  assert.deepEqual(told.map(({ span, fields }) => [span === spans[0], fields.map(({ path, textPath, status }) => [path, textPath, status])]), [
    [true, [["/attributes/mlflow.spanOutputs/!json/token_ids", "/attributes/mlflow.spanOutputs/!json/response_text", "decoded"]]],
  ]);
});

test("text goes into an event, and the others stay", () => {
  const span = spanWith({}, { prompt_ids: ids, token_ids: ids });
  const [copy] = exported([span]).passed;
  assert.equal(copy.events[0], span.events[0]);
  assert.deepEqual([copy.events[1].name, copy.events[1].time, copy.attributes], [span.events[1].name, span.events[1].time, span.attributes]);
  assert.deepEqual(Object.keys(copy.events[1].attributes ?? {}).filter((key) => key.startsWith("token2text.")), ["token2text.prompt_text", "token2text.response_text"]);
});

test("the model's tokenizer is taken, also by what the span ran on", () => {
  const [span] = made((tracer) => tracer.startSpan("x", { attributes: { "mlflow.spanOutputs": RESULT } }).end(), { "gen_ai.request.model": "mine" });
  assert.match(String(exported([span], { mine: tokenizer }).passed[0].attributes["mlflow.spanOutputs"]), /"response_text":"Hello"/);
  const { passed, told } = exported([span], { other: tokenizer });
  assert.deepEqual([passed[0] === span, told[0].fields[0].reason], [true, "no_tokenizer"]);
});

test("ids that cannot be decoded: the original, and a word why", () => {
  const bad = spanWith({ "mlflow.spanOutputs": '{"token_ids":[1,-5]}' });
  const { passed, told } = exported([bad]);
  assert.deepEqual([passed[0] === bad, told.length, told[0].fields[0].status, told[0].fields[0].reason], [true, 1, "skipped", "negative"]);
});

test("a span beyond a limit, and one that throws, do not lose the others", () => {
  const good = spanWith({ "mlflow.spanOutputs": RESULT });
  const large = spanWith({ "mlflow.spanOutputs": RESULT, a: "x".repeat(5000) });
  const hostile = Object.create(good, { attributes: { get: () => { throw new RangeError("no"); } } });
  const { passed, told } = exported([good, large, hostile, good], tokenizer, { limits: { bodyBytes: 1000 } });
  assert.deepEqual([passed[1] === large, passed[2] === hostile, passed.length], [true, true, 4]);
  for (const at of [0, 3]) assert.match(String(passed[at].attributes["mlflow.spanOutputs"]), /Hello/);
  assert.deepEqual(told.map(({ span, error }) => [span, error?.code]), [[hostile, "internal"], [good, undefined], [large, "limit_exceeded"], [good, undefined]]);
});

test("values that are in themselves, or deep, end nothing", () => {
  /** @type {any} */
  const knot = { "mlflow.spanOutputs": RESULT };
  Object.assign(knot, { one: [knot, knot], other: knot });
  /** @type {any} */
  let deep = 1;
  for (let i = 0; i < 100_000; i++) deep = [deep];
  for (const value of [knot, deep]) {
    const span = Object.create(spanWith({}), { attributes: { value: { "mlflow.spanOutputs": RESULT, value } } });
    const [copy] = exported([span]).passed;
    assert.match(String(copy.attributes["mlflow.spanOutputs"]), /Hello/);
    assert.equal(copy.attributes.value, value);
  }
});

test("an Enricher that was freed loses no span", () => {
  const enricher = new Enricher(tokenizer);
  const spans = [spanWith({ "mlflow.spanOutputs": RESULT }), spanWith({ a: 1 })];
  const { passed: first } = exported(spans, enricher);
  enricher.free();
  const { passed, told } = exported(spans, enricher);
  assert.notEqual(first[0], spans[0]);
  assert.deepEqual(passed, spans);
  assert.deepEqual(told.map(({ error }) => error?.code), ["freed", "freed"]);
});

describe("one callback", () => {
  /** @type {ReadableSpan[]} */
  const spans = [spanWith({ "mlflow.spanOutputs": RESULT })];
  /** @param {any} inner @returns {Token2TextSpanExporter<ReadableSpan>} */
  const around = (inner) => new Token2TextSpanExporter({ shutdown: async () => {}, ...inner }, tokenizer);
  /** @param {any} inner */
  async function results(inner) {
    const exporter = around(inner);
    /** @type {unknown[]} */
    const all = [];
    exporter.export(spans, ({ code, error }) => void all.push([code, error?.message]));
    await new Promise((resolve) => setImmediate(resolve));
    return { exporter, all };
  }

  test("of an exporter that throws, rejects, or calls twice", async () => {
    const no = new Error("no");
    assert.deepEqual((await results({ export() { throw no; } })).all, [[1, "no"]]);
    assert.deepEqual((await results({ export: async () => { throw no; } })).all, [[1, "no"]]);
    assert.deepEqual((await results({ export(/** @type {any} */ _, /** @type {any} */ callback) { callback({ code: 0 }); callback({ code: 1 }); throw no; } })).all, [[0, undefined]]);
  });

  test("of one that never calls: when it has shut down", async () => {
    const { exporter, all } = await results({ export() {} });
    assert.equal(all.length, 0);
    await exporter.shutdown();
    assert.deepEqual(all, [[1, "the exporter was shut down before it had exported these spans"]]);
    exporter.export(spans, ({ code, error }) => void all.push([code, error?.message]));
    assert.deepEqual(all.at(-1), [1, "the exporter was shut down"]);
  });

  test("a callback or a report that throws ends nothing", () => {
    const throws = () => { throw new Error("mine"); };
    let passed = 0;
    const exporter = new Token2TextSpanExporter({ export: (/** @type {ReadableSpan[]} */ given, /** @type {any} */ done) => ((passed = given.length), done({ code: 0 })), shutdown: async () => {} }, tokenizer, { onReport: throws });
    exporter.export(spans, throws);
    assert.equal(passed, 1);
  });

  test("what is no list of spans is a failure", async () => {
    /** @type {number[]} */
    const codes = [];
    around({ export() {} }).export(/** @type {any} */ (undefined), ({ code }) => void codes.push(code));
    assert.deepEqual(codes, [1]);
  });
});

test("forceFlush and shutdown pass through, with what they reject; shutdown once", async () => {
  /** @type {string[]} */
  const calls = [];
  const inner = { export() {}, forceFlush: async () => void calls.push("flush"), shutdown: async () => { calls.push("shutdown"); throw new Error("late"); } };
  const exporter = new Token2TextSpanExporter(inner, tokenizer);
  await exporter.forceFlush();
  await assert.rejects(exporter.shutdown(), /late/);
  await assert.rejects(exporter.shutdown(), /late/);
  await new Token2TextSpanExporter({ export() {}, shutdown: async () => {} }, tokenizer).forceFlush();
  assert.deepEqual(calls, ["flush", "shutdown"]);
});

test("mistakes in what it is made of", () => {
  const inner = { export() {}, shutdown: async () => {} };
  const enricher = new Enricher(tokenizer);
  for (const [given, words] of /** @type {[any[], RegExp][]} */ ([
    [[undefined, tokenizer], /takes another span exporter, not undefined/],
    [[inner, undefined], /an Enricher takes one Tokenizer/],
    [[inner, { enrichBody: async () => {} }], /token2text\/worker answers too late/],
    [[inner, tokenizer, { layout: [] }], /layout/],
    [[inner, enricher, { messages: true }], /has no option `messages`/],
  ])) {
    assert.throws(() => Reflect.construct(Token2TextSpanExporter, given), { code: "invalid_options", message: words });
  }
});

describe("with a server", () => {
  const server = rotelServer();
  before(() => server.start());
  after(() => server.dispose());

  test("the recipe does what it says", async () => {
    const commands = await runRecipe("OpenTelemetry", {
      printed: { "http://127.0.0.1:4318": server.url, "[9707, 11, 1879, 0]": JSON.stringify(byteIds("Hello, world!")) },
      files: { "tokenizer.json": jsonBytes(byteLevel()) },
      modules: { "@opentelemetry": fileURLToPath(new URL("node_modules/@opentelemetry", import.meta.url)) },
    });
    assert.equal(commands, 1);
    for (const deadline = Date.now() + 10_000; !server.log().includes("Hello, world!"); await new Promise((resolve) => setTimeout(resolve, 50))) {
      assert.ok(Date.now() < deadline, server.log());
    }
  });
});

test("in a batch processor: nothing is lost at the end", async () => {
  const memory = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(new Token2TextSpanExporter(memory, tokenizer))] });
  for (let i = 0; i < 600; i++) provider.getTracer("tests").startSpan(`s${i}`, { attributes: { "mlflow.spanOutputs": RESULT } }).end();
  await provider.forceFlush();
  const spans = memory.getFinishedSpans();
  assert.deepEqual([spans.length, spans.every(({ attributes }) => String(attributes["mlflow.spanOutputs"]).includes("Hello"))], [600, true]);
  await provider.shutdown();
});
