/** Receivers and workers with a queue between them, on a real nats-server. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, beforeEach, describe, test } from "node:test";
import { gzipSync } from "node:zlib";
import { headers } from "../../collector/node_modules/@nats-io/transport-node/lib/mod.js";
import { DEFAULTS } from "../../collector/src/configuration/defaults.js";
import { fitted, partOf } from "../../collector/src/queue/fitting.js";
import { namesOf } from "../../collector/src/queue/streams.js";
import { textField } from "../../pkg/exporters/wire.js";
import { freshId, request } from "../integration/support/fixtures.js";
import { anywhere, startCollector } from "./support/collector.js";
import { BIN, Command } from "./support/command.js";
import { Gate } from "./support/gate.js";
import { NatsServer, PROTOBUF, enriched, freshBody, post, spansOf, until } from "./support/nats.js";
import { sendByJs } from "./support/otel.js";
import { Sink } from "./support/sink.js";

/** @typedef {import("../../collector/src/types.js").Configuration} Configuration */
/** @typedef {import("../../collector/src/types.js").QueueTarget} QueueTarget */

const KIB = 1024;
const OUTPUT = '{"token_ids":[52491,83592,52549]}';
const nats = new NatsServer(`max_payload: ${64 * KIB}\njetstream { store_dir: jetstream }`);
const sink = await new Sink().start();
/** @type {Awaited<ReturnType<typeof startCollector>>[]} */
const collectors = [];

before(() => nats.start());
after(async () => {
  await Promise.all(collectors.map((collector) => collector.close()));
  sink.close();
  await nats.dispose();
});
beforeEach(() => {
  sink.answer = { status: 200 };
  sink.seen = [];
});

/** @param {Partial<Configuration>} more */
async function started(more) {
  const collector = await startCollector(more);
  collectors.push(collector);
  return collector;
}

/** One that only puts in; without a tokenizer. Its address, and that of /health. @param {QueueTarget} queue @param {Partial<Configuration>} [more] */
const receiver = async (queue, more) => (await started({ tokenizers: [], receive: anywhere, admin: anywhere, queue, ...more })).urls;

/** One that only takes out; the address of its /health. @param {QueueTarget} queue @param {Partial<Configuration>} [more] */
const worker = async (queue, more) => (await started({ exports: [sink.target()], admin: anywhere, queue, ...more })).urls[0];

/** @param {string} admin @returns {Promise<any>} */
const health = async (admin) => (await fetch(`${admin}/health`)).json();

/** Waits until nothing is in the queue. @param {string} admin */
const drained = (admin) => until(async () => (await health(admin)).queue.messages === 0, () => `${sink.seen.length} requests came`);

/** What is in the metrics, by name and labels. @param {string} admin @param {string} name */
async function metric(admin, name) {
  const line = (await (await fetch(`${admin}/metrics`)).text()).split("\n").find((line) => line.startsWith(name));
  return Number(line?.split(" ").at(-1));
}

const sunk = () => spansOf(sink.seen.map(({ body }) => body));

test("what is received is answered when the queue has it, and a worker exports what a receiver without a queue would", async () => {
  const queue = nats.queue();
  const [url, admin] = await receiver(queue);
  const bodies = Array.from({ length: 20 }, freshBody);
  for (const { body } of bodies) assert.deepEqual(await post(url, body), { status: 200, retryAfter: null, text: "" });
  assert.equal((await post(url, gzipSync(bodies[0].body), { "content-encoding": "gzip" })).status, 200);
  assert.deepEqual([(await health(admin)).queue.messages, sink.seen.length], [20, 0]);
  // OpenTelemetry's own client, in both encodings.
  for (const kind of /** @type {const} */ (["proto", "json"])) assert.deepEqual((await sendByJs(kind, url, OUTPUT, { gzip: true })).logged, []);
  const adminOfWorker = await worker(queue);
  await drained(adminOfWorker);
  const [json, proto] = [true, false].map((isJson) => sink.seen.filter(({ headers }) => (headers["content-type"] === "application/json") === isJson));
  const expected = enriched(bodies.map(({ body }) => body));
  const arrived = spansOf(proto.map(({ body }) => body));
  for (const id of Object.keys(expected)) assert.equal(arrived[id], expected[id]);
  assert.equal(Object.keys(arrived).length, 22);
  assert.equal(JSON.parse(json[0].body.toString()).resourceSpans[0].scopeSpans[0].spans.length, 2);
  assert.match(json[0].body.toString(), /response_text/);
  assert.deepEqual([await metric(admin, 'token2text_queued_total{outcome="stored"}'), await metric(adminOfWorker, 'token2text_settled_total{outcome="exported"}')], [22, 22]);
});

test("a request that is sent again is stored once", async () => {
  const queue = nats.queue();
  const [url, admin] = await receiver(queue);
  const { body } = freshBody();
  for (let i = 0; i < 3; i++) assert.equal((await post(url, body)).status, 200);
  assert.deepEqual([(await health(admin)).queue.messages, await metric(admin, 'token2text_queued_total{outcome="duplicate"}')], [1, 2]);
});

test("what is no request is refused by the receiver, and one without spans is not put in", async () => {
  const [url, admin] = await receiver(nats.queue());
  for (const [body, type] of [["garbage", PROTOBUF], ["{", "application/json"], ["[]", "application/json"], ['{"resourceSpans":5}', "application/json"]]) {
    assert.equal((await post(url, body, { "content-type": type })).status, 400, body);
  }
  for (const [body, type] of [["", PROTOBUF], ["{}", "application/json"]]) assert.equal((await post(url, body, { "content-type": type })).status, 200);
  assert.equal((await health(admin)).queue.messages, 0);
});

test("one process receives, queues and exports", async () => {
  const { urls: [url, admin] } = await started({ receive: anywhere, admin: anywhere, exports: [sink.target()], queue: nats.queue() });
  const { body } = freshBody();
  assert.equal((await post(url, body)).status, 200);
  await drained(admin);
  assert.deepEqual(sunk(), enriched([body]));
});

test("what can never be delivered becomes a dead letter with its reason; what came with it arrives", async () => {
  const queue = nats.queue();
  const { subject, deadStream } = namesOf(queue.options);
  const [url] = await receiver(queue);
  const [good, refused, partly] = [freshBody(), freshBody(), freshBody()];
  for (const { body } of [good, refused, partly]) await post(url, body);
  // Others may put something in, too.
  await nats.used(async ({ client }) => {
    const damaged = headers();
    damaged.set("Content-Encoding", "gzip");
    await client.publish(subject, good.body.subarray(0, -3));
    await client.publish(subject, good.body, { headers: damaged });
  });
  const has = (/** @type {Buffer} */ body, /** @type {{ id: string }} */ { id }) => body.includes(Buffer.from(id, "hex"));
  sink.answer = (body) => {
    if (has(body, refused)) return { status: 400, body: Buffer.from("0803", "hex") };
    // One span rejected, "too old".
    return has(body, partly) ? { status: 200, body: Buffer.from("0a0b080112" + "07" + Buffer.from("too old").toString("hex"), "hex") } : { status: 200 };
  };
  const admin = await worker(queue);
  await drained(admin);
  const letters = await nats.messages(deadStream);
  const reasons = letters.map(({ header }) => header.get("Token2text-Reason")).sort();
  assert.match(reasons[0], /^otlp 127\.0\.0\.1:\d+ has not stored 1 of 1 spans: .*status 400/);
  assert.match(reasons[1], /^otlp 127\.0\.0\.1:\d+ has not stored 1 of 1 spans: .*too old/);
  assert.match(reasons[2], /damaged at byte/);
  assert.match(reasons[3], /not what its content encoding says/);
  const letter = letters.find(({ header }) => header.get("Token2text-Status") === "400") ?? assert.fail("there is none with the status");
  assert.deepEqual(Buffer.from(letter.data), Buffer.from(refused.body));
  assert.match(letter.header.get("Token2text-Export"), /^otlp 127/);
  assert.equal(sunk()[good.id], enriched([good.body])[good.id]);
  assert.deepEqual([(await health(admin)).queue.deadLetters, await metric(admin, 'token2text_settled_total{outcome="dead"}')], [4, 4]);

  const run = async (/** @type {string[]} */ ...args) => {
    const command = new Command(args, { command: [process.execPath, BIN] });
    return { status: await command.ended, out: command.stdout, said: command.stderr };
  };
  const where = `${queue.url},stream=${queue.options.stream}`;
  /** @type {any[]} */
  const listed = JSON.parse((await run("dead-letters", where, "--json")).out);
  assert.deepEqual(listed.map(({ spans, traces }) => [spans, traces.length]).sort(), [[0, 0], [0, 0], [1, 1], [1, 1]]);
  const { id, status, attempts, receivedAt } = listed.find(({ status }) => status === 400);
  assert.deepEqual([id, status, attempts], [letter.seq, 400, 1]);
  assert.ok(Date.now() - Date.parse(receivedAt) < 600_000);
  const { out } = await run("dead-letters", where, "--id", String(id));
  assert.match(out, /has not stored 1 of 1 spans: .*status 400[^]*1 dead letter\n$/);
  Object.assign(sink, { answer: { status: 200 }, seen: [] });
  const [{ export: name }] = listed.filter(({ status }) => status === 400);
  assert.deepEqual(await run("retry", where, "--export", name), { status: 0, out: "2 dead letters will be tried again\n", said: "" });
  await until(() => Object.keys(sunk()).length === 2);
  assert.deepEqual(sunk(), enriched([refused.body, partly.body]));
  assert.equal((await run("give-up", where, "--all")).out, "2 dead letters with 0 spans given up\n");
  assert.equal((await run("retry", where)).status, 1);
  assert.equal((await health(admin)).queue.deadLetters, 0);
  const away = await run("dead-letters", "nats://127.0.0.1:1");
  assert.deepEqual([away.status, away.said], [1, "token2text-collector dead-letters: the queue nats://127.0.0.1:1 is away: nothing listens there\n"]);
});

test("a backend that is away, busy, or does not know the collector: bodies wait in the queue until it takes them", async () => {
  const queue = nats.queue();
  const [url] = await receiver(queue);
  const gate = new Gate(() => sink.url);
  await gate.open();
  const admin = await worker(queue, { exports: [{ backend: "otlp", url: gate.url, options: {} }] });
  await gate.shut();
  const bodies = Array.from({ length: 10 }, freshBody).map(({ body }) => body);
  for (const body of bodies.slice(0, 5)) assert.equal((await post(url, body)).status, 200);
  const again = () => metric(admin, 'token2text_settled_total{outcome="again"}');
  await until(async () => (await again()) >= 5);
  sink.answer = { status: 401 };
  await gate.open();
  await until(() => sink.seen.length > 0);
  sink.answer = { status: 503, headers: { "retry-after": "1" } };
  for (const body of bodies.slice(5)) assert.equal((await post(url, body)).status, 200);
  sink.seen = [];
  await until(() => sink.seen.length > 0);
  assert.deepEqual([(await health(admin)).queue.messages, (await health(admin)).queue.deadLetters], [10, 0]);
  Object.assign(sink, { answer: { status: 200 }, seen: [] });
  await drained(admin);
  assert.deepEqual(sunk(), enriched(bodies));
  await gate.shut();
});

describe("bodies that are larger than the server takes", () => {
  const noise = (/** @type {number} */ bytes) => randomBytes(bytes).toString("base64");
  const large = request(...Array.from({ length: 9 }, (_, i) => ({ span: freshId(8), attributes: { number: BigInt(i), noise: noise(24 * KIB), "mlflow.spanOutputs": OUTPUT } })));

  test("are compressed, or cut between spans, and arrive as they would have", async () => {
    const queue = nats.queue();
    const [url, adminOfReceiver] = await receiver(queue);
    const packable = request({ span: freshId(8), attributes: { padding: "a".repeat(200 * KIB), "mlflow.spanOutputs": OUTPUT } });
    for (const body of [packable, large]) assert.equal((await post(url, body)).status, 200);
    const messages = await nats.messages(queue.options.stream);
    assert.deepEqual(messages.slice(0, 1).map(({ header }) => header.get("Content-Encoding")), ["gzip"]);
    assert.ok(messages.length >= 6 && messages.every(({ data }) => data.length < 64 * KIB), String(messages.length));
    assert.equal((await post(url, large)).status, 200);
    assert.equal((await health(adminOfReceiver)).queue.messages, messages.length);
    await drained(await worker(queue));
    assert.deepEqual(sunk(), enriched([packable, large]));
  });

  test("are refused if a span alone is larger, or if they are JSON", async () => {
    const [url] = await receiver(nats.queue());
    const single = await post(url, request({ span: freshId(8), attributes: { noise: noise(200 * KIB) } }));
    assert.equal(single.status, 413);
    assert.match(single.text, /a span of \d+ bytes, \d+ in gzip, is more than the 61440 that the server of the queue takes at once; raise its max_payload$/);
    const spans = Array.from({ length: 9 }, () => ({ traceId: freshId(16), spanId: freshId(8), name: noise(24 * KIB) }));
    const json = await post(url, JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }), { "content-type": "application/json" });
    assert.equal(json.status, 413);
    assert.match(json.text, /the body of .* or send protocol buffers/);
  });

  test("in parts: every span once, and with each what stood beside it", async () => {
    const strange = Buffer.concat([large, textField(77, "unknown"), large.subarray(0, 0), request({ span: "0123456789abcdef" })]);
    const all = spansOf([strange]);
    for (const middle of [0, 1, 4, 9, 10]) {
      const parts = [partOf(strange, (index) => index < middle), partOf(strange, (index) => index >= middle)];
      assert.deepEqual({ ...spansOf([parts[0]]), ...spansOf([parts[1]]) }, all);
      assert.equal(Object.keys(spansOf([parts[0]])).length, middle);
      assert.ok(parts.every((part) => Buffer.from(part).includes("unknown")));
    }
    const pieces = await fitted({ body: strange, contentType: PROTOBUF }, 40 * KIB);
    assert.deepEqual(spansOf(pieces.map(({ body }) => body)), all);
  });
});

test("a queue that is full: senders are told to come again, and nothing is thrown away", async () => {
  const queue = nats.queue({ maxBytes: 8 * KIB });
  const [url, admin] = await receiver(queue);
  /** @type {Uint8Array[]} */
  const taken = [];
  for (;;) {
    const { body } = freshBody();
    const { status, retryAfter, text } = await post(url, body);
    if (status === 200) taken.push(body);
    else {
      assert.deepEqual([status, retryAfter], [503, "5"]);
      assert.match(text, /the queue does not take it: .*maximum bytes exceeded/);
      break;
    }
  }
  const { status, queue: told } = await health(admin);
  assert.deepEqual([status, told.ready], ["not ready", false]);
  assert.match(told.problem, /maximum bytes/);
  await drained(await worker(queue));
  assert.deepEqual(sunk(), enriched(taken));
  assert.equal((await post(url, freshBody().body)).status, 200);
  assert.equal((await health(admin)).status, "ok");
});

test("at the end, bodies that take too long are given back, and another worker has them at once", async () => {
  const queue = nats.queue();
  const [url] = await receiver(queue);
  const { body } = freshBody();
  let release = () => {};
  sink.answer = { status: 200, waitFor: new Promise((resolve) => (release = () => resolve(undefined))) };
  const slow = await startCollector({ exports: [sink.target()], queue, limits: { ...DEFAULTS.limits, drainMillis: 500 } });
  await post(url, body);
  await until(() => sink.seen.length === 1);
  sink.answer = { status: 200 };
  const admin = await worker(queue);
  const closing = slow.close();
  // The server would give it away by itself after 30 s.
  await until(() => sink.seen.length === 2, undefined, 20_000);
  release();
  await closing;
  await drained(admin);
  assert.deepEqual(sunk(), enriched([body]));
});
