/** Forwarding from the store to a backend with every illness: what was acknowledged arrives once, as it was sent and with its texts. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { exportName } from "../../collector/src/configuration/targets.js";
import { freshFolder } from "./support/folders.js";
import { send, startForwarder, until } from "./support/forwarding.js";
import { Gate } from "./support/gate.js";
import { TROUBLED, startPool } from "./support/pool.js";
import { Sink } from "./support/sink.js";
import { Acknowledged, JSON_TYPE, PROTOBUF, jsonTrace, traceOf } from "./support/spans.js";

/** @typedef {import("./support/sink.js").SinkAnswer} SinkAnswer */
/** @typedef {import("./support/spans.js").Sent} Sent */

const pool = await startPool();
after(() => pool.close());
const folder = freshFolder();
let stores = 0;
const freshStore = () => join(folder, `${++stores}.db`);

/** A sink that keeps what it took, and answers the first requests as it is told. @param {SinkAnswer[]} illness */
async function sinkWith(illness = []) {
  const sink = await new Sink().start();
  after(() => sink.close());
  /** @type {Sent[]} */
  const taken = [];
  sink.answer = (body) => {
    const answer = illness.shift();
    if (answer && answer.status !== 200) return answer;
    if (answer?.body === undefined) taken.push({ body, contentType: body[0] === "{".charCodeAt(0) ? JSON_TYPE : PROTOBUF });
    return answer ?? { status: 200 };
  };
  return { sink, taken };
}

/** Sends traces by three clients at once. @param {string} url @param {Acknowledged} acknowledged @param {number} [count] Of each. */
async function sendTraces(url, acknowledged, count = 12) {
  await Promise.all(Array.from({ length: 3 }, async (_, client) => {
    for (let i = 0; i < count; i++) {
      const sent = client === 2 && i % 4 === 0 ? jsonTrace() : traceOf(1 + (i % 5));
      await send(url, sent);
      acknowledged.add(sent);
      await sleep(2);
    }
  }));
}

const PAGE = { status: 200, headers: { "content-type": "text/html" }, body: "<html><body>Please log in" };
/** @type {Record<string, SinkAnswer[]>} What the first requests are answered. */
const ILLNESSES = {
  "is busy (429 with Retry-After)": Array(2).fill({ status: 429, headers: { "retry-after": "0.2" } }),
  "is being restarted (503)": Array(5).fill({ status: 503 }),
  "fails (500)": Array(4).fill({ status: 500, body: "the disk is full" }),
  "wants another token (401)": Array(8).fill({ status: 401 }),
  "is somewhere else (302)": Array(8).fill({ status: 302, headers: { location: "/login" } }),
  "is hidden behind a page": Array(8).fill(PAGE),
  "cuts the connection": Array(4).fill({ status: 0, isCut: true }),
  "is slow": Array.from({ length: 4 }, () => ({ status: 200, get waitFor() { return sleep(150); } })),
};
for (const [what, illness] of Object.entries(ILLNESSES)) {
  test(`a backend that ${what} has everything in the end, once`, async () => {
    const { sink, taken } = await sinkWith([...illness]);
    const collector = await startForwarder(pool, freshStore(), [sink.target()]);
    try {
      const acknowledged = new Acknowledged();
      await sendTraces(collector.url, acknowledged);
      await until(() => acknowledged.in(taken) === acknowledged.count, () => collector.lines.join(""));
      acknowledged.assertAllIn(taken);
      assert.deepEqual((await collector.store.facts()).dead, {});
      const told = collector.lines.map((line) => JSON.parse(line).msg).filter((words) => /export/.test(words));
      assert.deepEqual(told, what === "is slow" ? [] : ["an export fails; it is tried again until it does not", "the export works again"]);
    } finally {
      await collector.close();
    }
  });
}

test("a backend that is down for a while has everything in the end, also over a restart of the collector", async () => {
  const { sink, taken } = await sinkWith();
  const gate = new Gate(() => sink.url);
  await gate.open();
  const to = [{ ...sink.target(), url: gate.url }];
  await gate.shut();
  const file = freshStore();
  const acknowledged = new Acknowledged();
  const first = await startForwarder(pool, file, to);
  await sendTraces(first.url, acknowledged, 4);
  await until(() => first.forwarding.health()[0].failingSince);
  assert.match(first.forwarding.health()[0].reason ?? "", /ECONNREFUSED/);
  await first.close();
  const second = await startForwarder(pool, file, to);
  try {
    await sendTraces(second.url, acknowledged, 4);
    assert.deepEqual(taken, []);
    await gate.open();
    await until(() => acknowledged.in(taken) === acknowledged.count, () => second.lines.join(""));
    acknowledged.assertAllIn(taken);
    assert.deepEqual(second.forwarding.health(), [{ export: exportName(to[0]) }]);
  } finally {
    await second.close();
    await gate.shut();
  }
});

test("small requests go on together, in order", async () => {
  /** @type {() => void} */
  let open = () => {};
  const { sink, taken } = await sinkWith([{ status: 200, waitFor: new Promise((resolve) => (open = () => resolve(undefined))) }]);
  const collector = await startForwarder(pool, freshStore(), [sink.target()]);
  try {
    const acknowledged = new Acknowledged();
    await sendTraces(collector.url, acknowledged, 20);
    open();
    await until(() => acknowledged.in(taken) === acknowledged.count);
    acknowledged.assertAllIn(taken);
    // Those in JSON go alone.
    assert.ok(taken.length < 20, `${taken.length}`);
  } finally {
    await collector.close();
  }
});

test("an export that is down does not hold up another, and one that is added later catches up on everything", async () => {
  const { sink, taken } = await sinkWith();
  const { sink: late, taken: takenLate } = await sinkWith();
  const file = freshStore();
  const acknowledged = new Acknowledged();
  const down = { backend: /** @type {const} */ ("otlp"), url: "http://127.0.0.1:9", options: {} };
  const first = await startForwarder(pool, file, [down, sink.target()]);
  await sendTraces(first.url, acknowledged, 5);
  await until(() => acknowledged.in(taken) === acknowledged.count);
  const { positions } = await first.store.facts();
  assert.equal(positions[exportName(down)], undefined);
  await first.close();

  const second = await startForwarder(pool, file, [sink.target(), late.target()]);
  try {
    await until(() => acknowledged.in(takenLate) === acknowledged.count);
    acknowledged.assertAllIn(takenLate);
    await sendTraces(second.url, acknowledged, 2);
    await until(() => acknowledged.in(takenLate) + acknowledged.in(taken) === 2 * acknowledged.count);
    for (const bodies of [taken, takenLate]) acknowledged.assertAllIn(bodies);
  } finally {
    await second.close();
  }
});

test("what is being sent when the collector stops is settled; the rest is sent by the next one", async () => {
  /** @type {() => void} */
  let open = () => {};
  const { sink, taken } = await sinkWith([{ status: 200, waitFor: new Promise((resolve) => (open = () => resolve(undefined))) }]);
  const file = freshStore();
  const acknowledged = new Acknowledged();
  const first = await startForwarder(pool, file, [sink.target()]);
  await sendTraces(first.url, acknowledged, 3);
  const closed = first.close();
  await sleep(50);
  open();
  await closed;
  assert.equal(taken.length, 1);
  const second = await startForwarder(pool, file, [sink.target()]);
  await until(() => acknowledged.in(taken) === acknowledged.count);
  await second.close();
  acknowledged.assertAllIn(taken);
});

test("bodies that end workers arrive as they came, and those beside them with their texts", async () => {
  const troubled = await startPool({}, TROUBLED);
  const { sink, taken } = await sinkWith([{ status: 503 }, { status: 503 }]);
  const collector = await startForwarder(troubled, freshStore(), [sink.target()]);
  try {
    const acknowledged = new Acknowledged();
    for (const trouble of ["trap", "exit"]) {
      // What is smaller is enriched without a worker.
      const sent = traceOf(2, { trouble: `"trouble: ${trouble}"`, padding: "-".repeat(20_000) });
      await send(collector.url, sent);
      acknowledged.add(sent, { isDecoded: false });
      await sendTraces(collector.url, acknowledged, 3);
    }
    await until(() => acknowledged.in(taken) === acknowledged.count, () => collector.lines.join(""));
    acknowledged.assertAllIn(taken);
    assert.ok(troubled.lines.some((line) => line.includes("a worker ended in the middle of a body")));
  } finally {
    await collector.close();
    await troubled.close();
  }
});
