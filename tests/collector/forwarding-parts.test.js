/** The parts of forwarding: how long is waited, what an answer means; and what is told of it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { Backoff } from "../../collector/src/forwarding/backoff.js";
import { judge } from "../../collector/src/forwarding/judgement.js";
import { Runs, requestOf } from "../../collector/src/forwarding/runs.js";
import { anywhere, startCollector } from "./support/collector.js";
import { freshFolder } from "./support/folders.js";
import { send, startForwarder, until } from "./support/forwarding.js";
import { startPool } from "./support/pool.js";
import { parseMetrics, sample } from "./support/prometheus.js";
import { Sink } from "./support/sink.js";
import { Acknowledged, JSON_TYPE, PROTOBUF, sentTo, spansIn, traceOf } from "./support/spans.js";

const folder = freshFolder();

describe("backoff", () => {
  test("doubles from 1 s to 60 s, half of it by chance, and begins anew after a success", () => {
    for (const [chance, first] of [[0, 500], [0.5, 750], [1, 1000]]) {
      const backoff = new Backoff(undefined, () => chance);
      const waits = Array.from({ length: 8 }, () => backoff.next());
      assert.deepEqual(waits, [1, 2, 4, 8, 16, 32, 60, 60].map((seconds) => seconds * first));
      backoff.reset();
      assert.equal(backoff.next(), first);
    }
  });

  test("never waits less than the backend asks for, and an hour at most", () => {
    for (const chance of [0, 1]) {
      const backoff = new Backoff(undefined, () => chance);
      for (const asked of [1, 900, 5000, 90_000, 3_600_000]) {
        const wait = backoff.next(asked);
        assert.ok(wait >= asked && wait <= Math.max(60_000, asked + 1000), `${asked}: ${wait}`);
      }
      assert.ok(backoff.next(1e12) <= 3_601_000);
    }
    for (let i = 0, backoff = new Backoff(); i < 2000; i++) assert.ok(backoff.next() <= 60_000);
  });
});

test("what an answer means", () => {
  /** @type {[judgement: string, ...exported: Partial<import("../../collector/src/receive/exports.js").Exported>[]][]} */
  const TABLE = [
    ["delivered", { status: "success" }, { status: "success", message: "a warning" }],
    ["again", { status: "retryable" }, { status: "retryable", httpStatus: 429 }, ...[301, 302, 401, 403, 404, 405, 407, 408, 501, 505, 520, 529].map((httpStatus) => ({ httpStatus }))],
    ["again", { code: "refused" }],
    ["unclear", ...[402, 409, 415, 418, 500].map((httpStatus) => ({ httpStatus })), { code: "internal" }, {}],
    ["refused", ...[200, 400, 413, 422].map((httpStatus) => ({ httpStatus })), { httpStatus: 400, lost: 1 }, { code: "invalid_body" }, { code: "limit_exceeded" }],
  ];
  for (const [judgement, ...cases] of TABLE) {
    for (const exported of cases) assert.equal(judge({ name: "otlp", status: "failure", ...exported }), judgement, JSON.stringify(exported));
  }
});

describe("runs", () => {
  /** @param {[contentType: string, bytes: number][]} rows @param {{ isJoined?: boolean, bodyBytes?: number, atOnce?: number }} [how] */
  async function runsOf(rows, { isJoined = true, bodyBytes = 64 << 20, atOnce = 4 } = {}) {
    const bodies = rows.map(([contentType, bytes], i) => ({ id: i + 1, contentType, body: Buffer.alloc(bytes, i), at: 0, spans: 1 }));
    const runs = new Runs(async (position) => bodies.filter(({ id }) => id > position).slice(0, atOnce), { position: 0, isJoined, bodyBytes });
    const ids = [];
    for (let run = await runs.next(); run.length > 0; run = await runs.next()) {
      ids.push(run.map(({ id }) => id));
      assert.deepEqual(requestOf(run), { body: Buffer.concat(run.map(({ body }) => body)), contentType: run[0].contentType });
    }
    return ids;
  }
  const MIB = 1 << 20;

  test("requests in protocol buffers go together, those in JSON alone, everything in order", async () => {
    assert.deepEqual(await runsOf([]), []);
    assert.deepEqual(await runsOf([[PROTOBUF, 10], [PROTOBUF, 10], [JSON_TYPE, 10], [JSON_TYPE, 10], [PROTOBUF, 10], [PROTOBUF, 10]]), [[1, 2], [3], [4], [5, 6]]);
    assert.deepEqual(await runsOf([[PROTOBUF, 10], [PROTOBUF, 10]], { isJoined: false }), [[1], [2]]);
  });

  test("up to 1 MiB, or to the largest body that is decoded", async () => {
    const rows = /** @type {[string, number][]} */ ([0.6, 0.3, 0.2, 2, 0.5, 0.5].map((part) => [PROTOBUF, part * MIB]));
    assert.deepEqual(await runsOf(rows, { atOnce: 6 }), [[1, 2], [3], [4], [5, 6]]);
    assert.deepEqual(await runsOf(rows, { atOnce: 6, bodyBytes: MIB / 2 }), [[1], [2, 3], [4], [5], [6]]);
  });
});

describe("with troubles of its own", () => {
  /** @param {any} target @param {string[]} names Of methods that fail the first times. @param {(name: string) => unknown} fail */
  const failingFirst = (target, names, fail) => {
    const left = [...names, ...names];
    return new Proxy(target, {
      get: (of, name) => (/** @type {any[]} */ ...args) => {
        const at = left.indexOf(String(name));
        if (at < 0) return of[name](...args);
        left.splice(at, 1);
        return fail(String(name));
      },
    });
  };

  test("a store that does not answer, and no room for decoding, only take longer", async () => {
    const pool = await startPool();
    const sink = await new Sink().start();
    const busy = failingFirst(pool, ["enrich", "enrich"], async () => ({ outcome: "undecoded", reason: "overloaded", message: "more than 1 bytes wait" }));
    const broken = (/** @type {object} */ store) => failingFirst(store, ["position", "after", "settle", "due"], async (name) => Promise.reject(new Error(`${name} failed`)));
    const collector = await startForwarder(busy, join(folder, "broken.db"), [sink.target()], { through: broken });
    try {
      const acknowledged = new Acknowledged();
      for (let i = 0; i < 5; i++) {
        const sent = traceOf();
        await send(collector.url, sent);
        acknowledged.add(sent);
      }
      await until(async () => Object.values((await collector.store.facts()).positions)[0] === 5, () => collector.lines.join(""));
      acknowledged.assertAllIn(sentTo(sink.seen));
      for (const name of ["position", "after", "settle"]) assert.ok(collector.lines.join("").includes(`${name} failed`), name);
    } finally {
      await collector.close();
      await pool.close();
      sink.close();
    }
  });
});

test("of a sample only what is in is forwarded, whole traces, and the rest is settled too", async () => {
  const pool = await startPool({ sample: 0.4 });
  const sink = await new Sink().start();
  const collector = await startForwarder(pool, join(folder, "sample.db"), [sink.target()], { sample: 0.4 });
  try {
    const acknowledged = new Acknowledged();
    const sent = Array.from({ length: 40 }, () => traceOf(3));
    for (const one of sent) {
      await send(collector.url, one);
      acknowledged.add(one);
    }
    await until(async () => Object.values((await collector.store.facts()).positions)[0] === 40);
    const arrived = new Set(sentTo(sink.seen).flatMap(spansIn).map(([id]) => id));
    const isIn = sent.map((one) => spansIn(one).filter(([id]) => arrived.has(id)).length);
    assert.ok(isIn.every((count) => count === 0 || count === 3), String(isIn));
    assert.ok(arrived.size > 0 && arrived.size < 120, String(arrived.size));
    acknowledged.assertAllIn(sentTo(sink.seen), { but: sent.filter((_, i) => isIn[i] === 0) });
  } finally {
    await collector.close();
    await pool.close();
    sink.close();
  }
});

test("/health and /metrics say what is behind, what is tried again and what is dead", async () => {
  const sink = await new Sink().start();
  const name = `otlp ${sink.url}`;
  sink.answer = { status: 503, headers: { "retry-after": "1" } };
  const collector = await startCollector({ receive: anywhere, admin: anywhere, exports: [sink.target()], store: { file: join(folder, "told.db"), bytes: 1 << 30 } });
  after(() => sink.close());
  const [url, admin] = collector.urls;
  const health = async () => (await fetch(`${admin}/health`)).json();
  const metrics = async () => parseMetrics(await (await fetch(`${admin}/metrics`)).text());
  try {
    const bodies = [traceOf(), traceOf(5)];
    for (const sent of bodies) await send(url, sent);
    await until(async () => (await health()).exports[0].failingSince);
    const { status, exports } = await health();
    // A backend that is away is no reason to replace the collector.
    assert.equal(status, "ok");
    assert.deepEqual([exports.length, exports[0].export], [1, name]);
    assert.match(exports[0].reason, /status 503/);
    const bytes = bodies.reduce((sum, { body }) => sum + body.length, 0);
    let told = await metrics();
    const of = (/** @type {string} */ metric) => sample(told, `token2text_${metric}`, { export: name });
    assert.deepEqual([of("export_behind_bodies"), of("export_behind_bytes"), of("dead_letters")], [2, bytes, undefined]);
    assert.ok(Number(of("export_behind_seconds")) > 0);
    assert.ok(Number(of("forward_retries_total")) >= 1);

    sink.answer = { status: 400 };
    await until(async () => (await health()).store.dead[name] === 2);
    told = await metrics();
    assert.deepEqual([of("export_behind_bodies"), of("export_behind_bytes"), of("export_behind_seconds"), of("dead_letters")], [0, 0, 0, 2]);
    assert.deepEqual((await health()).exports, [{ export: name }]);
  } finally {
    await collector.close();
  }
});
