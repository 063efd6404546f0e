/** Sampling in relays: what is not in passes as it came and is counted; who reads is shown all texts. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { read } from "../../pkg/node.js";
import { enricherOf, recorded } from "./support/bodies.js";
import { count, keepingBackend, relayContext, relayTo } from "./support/relay.js";

const { body, url } = recorded("trackio-verl-edge-llama2-ids/01-bulk-log.json");
/** None of a real run is below that. */
const NOTHING_IN = Number.MIN_VALUE;

/** @type {Awaited<ReturnType<typeof keepingBackend>>} */
let keeper;
before(async () => void (keeper = await keepingBackend()));
after(() => keeper.close());

/** @param {import("node:test").TestContext} t @param {number} sample */
async function relayWith(t, sample) {
  const context = await relayContext({ sample, enrichReads: true });
  const relay = await relayTo(context, "trackio", keeper.url);
  t.after(async () => {
    await relay.close();
    await context.close();
  });
  return { context, url: relay.url };
}

/** How many of the fields of ids have a text, and how many are there. @param {Uint8Array} given */
async function texts(given) {
  const fields = (await read(given, { url })).flatMap((span) => span.fields);
  return { written: fields.filter(({ existing }) => existing).length, all: fields.length };
}

test("what is not in passes as it came", async (t) => {
  const { context, url: address } = await relayWith(t, NOTHING_IN);
  await fetch(address + url, { method: "POST", body: new Uint8Array(body) });
  assert.deepEqual(keeper.got.body, Buffer.from(body));
  assert.equal(await count(context, "token2text_undecoded_total", 'listener="relay trackio",reason="not_sampled"'), 1);
  assert.ok((await count(context, "token2text_left_out_total", 'listener="relay trackio"')) > 0);
});

test("a share has texts, and the rest is as it came", async (t) => {
  const { url: address } = await relayWith(t, 0.5);
  await fetch(address + url, { method: "POST", body: new Uint8Array(body) });
  const { written, all } = await texts(keeper.got.body);
  assert.ok(written > 0 && written < all, `${written} of ${all}`);
});

test("who reads is shown all", async (t) => {
  const { url: address } = await relayWith(t, NOTHING_IN);
  const rows = recorded("trackio-verl-edge-llama2-ids/02-get-traces.json");
  keeper.answer = { status: 200, headers: ["content-type", "application/json"], body: Buffer.from(rows.body) };
  const response = await fetch(address + rows.url, { method: "POST", body: "{}" });
  const { body: whole } = enricherOf("qwen3").enrichBody(rows.body, { contentType: "application/json", url: rows.url });
  assert.notDeepEqual(Buffer.from(whole), Buffer.from(rows.body));
  assert.deepEqual(Buffer.from(await response.arrayBuffer()), Buffer.from(whole));
});
