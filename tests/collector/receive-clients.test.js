/** OpenTelemetry's own exporters send to the receiver, which exports to real servers; what is stored is read by the servers' own clients. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { PythonClient, mlflowServer } from "../integration/support/mlflow.js";
import { rotelServer } from "../integration/support/rotel.js";
import { Trackio } from "../integration/support/trackio.js";
import { Tokenizer, read, write } from "../../pkg/node.js";
import { OtlpExporter } from "../../pkg/exporters/otlp-node.js";
import { anywhere, startCollector, tokenizerFile } from "./support/collector.js";
import { Gate } from "./support/gate.js";
import { sendByJs, sendByPython } from "./support/otel.js";
import { Sink } from "./support/sink.js";

const NO_GRPC = "OTLP/gRPC is not accepted: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf";
const EXPERIMENT = "received";
const PROJECT = "rollouts";
const tokenizer = await Tokenizer.load(tokenizerFile, { engine: "general" });

const mlflow = mlflowServer();
const gate = new Gate(() => mlflow.url);
const trackio = new Trackio();
const rotel = rotelServer();
const sink = await new Sink().start();
/** @type {PythonClient} */
let python;
/** @type {Awaited<ReturnType<typeof startCollector>>} */
let collector;
/** Whose only export is the sink. @type {Awaited<ReturnType<typeof startCollector>>} */
let toSink;
let url = "";

before(async () => {
  await Promise.all([mlflow.start(), trackio.start(), rotel.start(), gate.open()]);
  python = new PythonClient(mlflow.url);
  collector = await startCollector({
    receive: anywhere,
    exports: [
      { backend: "mlflow", url: gate.url, options: { experiment: EXPERIMENT } },
      { backend: "trackio", url: trackio.url, options: { project: PROJECT, token: trackio.writeToken } },
      { backend: "otlp", url: rotel.url, options: { gzip: true } },
    ],
  });
  toSink = await startCollector({ receive: anywhere, exports: [sink.target()] });
  [url] = collector.urls;
});
after(async () => {
  python?.close();
  sink.close();
  await Promise.all([collector?.close(), toSink?.close()]);
  await Promise.all([gate.shut(), mlflow.dispose(), trackio.dispose(), rotel.dispose()]);
});

/** The outputs of a span, and their text. @param {string} text */
function outputsOf(text) {
  const ids = tokenizer.encode(text, { addSpecialTokens: false });
  return JSON.stringify({ token_ids: [...ids] });
}

/** Checks that a trace is stored everywhere, once, with its texts. @param {string} trace @param {string} text */
async function isEverywhere(trace, text) {
  const { spans } = await python.ask("trace", `tr-${trace}`);
  assert.equal(Object.keys(spans).length, 2);
  const attributes = Object.values(spans).map((span) => /** @type {any} */ (span).attributes);
  const texts = attributes.map((found) => found["mlflow.spanOutputs"] ?? found["token2text.response_text"] ?? JSON.stringify(found));
  assert.equal(texts.filter((json) => json.includes(text)).length, 2, texts.join("\n"));

  const { traces } = (await trackio.ask("stored"))[PROJECT].runs[0];
  const ours = traces.filter((/** @type {unknown} */ stored) => JSON.stringify(stored).includes(text));
  assert.equal(ours.length, 1);

  for (const deadline = Date.now() + 10_000; rotel.log().split(text).length < 3; await new Promise((resolve) => setTimeout(resolve, 50))) {
    assert.ok(Date.now() < deadline, `rotel has not printed ${text} for both spans\n${rotel.log()}`);
  }
}

/** @type {Record<string, (outputs: string) => Promise<import("./support/otel.js").Outcome>>} */
const CLIENTS = {
  "JavaScript, http/protobuf": (outputs) => sendByJs("proto", url, outputs),
  "JavaScript, http/json": (outputs) => sendByJs("json", url, outputs),
  "JavaScript, http/protobuf, gzip": (outputs) => sendByJs("proto", url, outputs, { gzip: true }),
  "Python, http/protobuf": (outputs) => sendByPython("http", url, outputs),
  "Python, http/protobuf, gzip": (outputs) => sendByPython("http", url, outputs, { gzip: true }),
};
for (const [name, send] of Object.entries(CLIENTS)) {
  test(`${name}: what it sends is stored by MLflow, Trackio and rotel, with texts`, async () => {
    const text = `sent by ${name}`;
    const { isSent, logged, trace } = await send(outputsOf(text));
    assert.deepEqual([isSent, logged], [true, []]);
    await isEverywhere(trace, text);
  });
}

test("gRPC: the exporter prints what to set", async () => {
  const { isSent, logged } = await sendByPython("grpc", url, outputsOf("by gRPC"));
  assert.equal(isSent, false);
  assert.match(logged.join("\n"), new RegExp(NO_GRPC));
});

test("a backend that is down: the exporter sends again, and what the others have stored stays as it is", async () => {
  for (const name of ["JavaScript, http/protobuf", "Python, http/protobuf"]) {
    const text = `sent by ${name} while MLflow is down`;
    await gate.shut();
    const sending = CLIENTS[name](outputsOf(text));
    // The first attempt has failed at MLflow then.
    for (let isStored = false; !isStored; ) isStored = JSON.stringify(await trackio.ask("stored")).includes(text);
    await gate.open();
    const { isSent, trace } = await sending;
    assert.equal(isSent, true);
    await isEverywhere(trace, text);
  }
});

test("what exporters tell of busy and failing backends, and of partial successes", async () => {
  const [to] = toSink.urls;
  const outputs = outputsOf("to a backend that is ill");
  for (const send of [() => sendByJs("proto", to, outputs), () => sendByJs("json", to, outputs), () => sendByPython("http", to, outputs)]) {
    sink.seen = [];
    sink.answer = { status: 429, headers: { "retry-after": "1" } };
    sink.onRequest = () => void (sink.seen.length === 2 && (sink.answer = { status: 200 }));
    assert.equal((await send()).isSent, true);
    assert.equal(sink.seen.length, 2);

    sink.answer = { status: 500 };
    sink.seen = [];
    sink.onRequest = () => {};
    const failed = await send();
    assert.deepEqual([failed.isSent, sink.seen.length], [false, 1]);
    assert.match(failed.logged.join("\n"), /500/);
  }
  // One rejected span.
  sink.answer = { status: 200, body: Buffer.from("0a0b0801120774726f75626c65", "hex") };
  for (const kind of /** @type {const} */ (["proto", "json"])) {
    const { isSent, logged } = await sendByJs(kind, to, outputs);
    assert.equal(isSent, true);
    assert.match(logged.join("\n"), /has not stored 1 of 2 spans: .*trouble/);
    assert.match(logged.join("\n"), /rejectedSpans\\?":"?1/);
  }
  // Our own exporter, in either encoding.
  for (const encoding of /** @type {const} */ (["protobuf", "given"])) {
    const result = await new OtlpExporter({ url: to, encoding }).export(await write(await read(new TextEncoder().encode(`[${outputs},${outputs}]`)), "otlp-json"));
    assert.deepEqual([result.status, "rejectedSpans" in result && result.rejectedSpans], ["failure", 1]);
  }
});
