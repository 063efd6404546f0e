/** Relays in front of a real server of Trackio; what is stored is told by Trackio's own package. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { Enricher, Tokenizer } from "../../pkg/node.js";
import { Trackio } from "../integration/support/trackio.js";
import { relayContext, relayTo } from "./support/relay.js";
import { tokenizerFile } from "./support/collector.js";

const BODY = readFileSync(new URL("../fixtures/captures/trackio-verl-edge-llama2-ids/01-bulk-log.json", import.meta.url));
/** Written through the relay; written without; and what token2text makes of the body, written without. */
const [server, plain, expected] = [new Trackio(), new Trackio(), new Trackio()];
/** @type {Awaited<ReturnType<typeof relayContext>>[]} */
const contexts = [];
/** @type {Awaited<ReturnType<typeof relayTo>>} */
let relay;
/** @type {Awaited<ReturnType<typeof relayTo>>} */
let reading;
before(async () => {
  contexts.push(await relayContext(), await relayContext({ enrichReads: true }));
  await Promise.all([server, plain, expected].map((server) => server.start()));
  relay = await relayTo(contexts[0], "trackio", server.url);
  reading = await relayTo(contexts[1], "trackio", plain.url);
});
after(async () => {
  await Promise.all([relay, reading].map((relay) => relay?.close()));
  await Promise.all([server, plain, expected].map((server) => server.dispose()));
  await Promise.all(contexts.map((context) => context.close()));
});

/** @param {string} url @param {string} path @param {Uint8Array | object} body */
async function post(url, path, body, headers = {}) {
  const bytes = body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
  const response = await fetch(url + path, { method: "POST", headers: { "content-type": "application/json", "x-trackio-write-token": server.writeToken, ...headers }, body: bytes });
  return { status: response.status, text: await response.text(), encoding: response.headers.get("content-encoding"), headers: response.headers };
}

/** The storage without what depends on the moment. @param {Trackio} trackio */
async function stored(trackio) {
  return JSON.parse(JSON.stringify(await trackio.ask("stored"), (key, value) => (["timestamp", "_Created", "_Username"].includes(key) ? undefined : value)));
}

test("what verl's client has sent is stored with its texts", async () => {
  const enricher = new Enricher(await Tokenizer.load(tokenizerFile), { messages: true });
  const enriched = enricher.enrichBody(BODY).body;
  assert.equal((await post(relay.url, "/api/bulk_log", BODY)).status, 200);
  assert.equal((await post(plain.url, "/api/bulk_log", BODY)).status, 200);
  assert.equal((await post(expected.url, "/api/bulk_log", enriched)).status, 200);
  assert.deepEqual(await stored(server), await stored(expected));
  assert.notDeepEqual(await stored(server), await stored(plain));
});

test("traces that are stored as ids are read with texts, in the encoding that was asked for", async () => {
  const before = await stored(plain);
  const { project, run_id } = JSON.parse(BODY.toString()).kwargs.logs[0];
  const asked = { project, run_id };
  const direct = await post(plain.url, "/api/get_traces", asked);
  const texts = (/** @type {string} */ json) => (json.match(/"(?:prompt|response)_text":/g) ?? []).length;
  for (const encoding of ["identity", "gzip", "br", "zstd, gzip"]) {
    const read = await post(reading.url, "/api/get_traces", asked, { "accept-encoding": encoding });
    assert.equal(read.status, 200);
    assert.ok(texts(read.text) > texts(direct.text) + 10, `${texts(read.text)} texts`);
    assert.equal(read.encoding, encoding === "identity" ? null : (encoding.split(", ").at(-1) ?? ""));
    // What verl has made of inputs and output are messages now.
    const without = (/** @type {string} */ json) => JSON.stringify(JSON.parse(json), (key, value) => (/_text$|^messages$/.test(key) ? undefined : value));
    assert.equal(without(read.text), without(direct.text));
  }
  assert.deepEqual(await stored(plain), before);
  assert.equal((await post(plain.url, "/api/get_traces", asked)).text, direct.text);
});

test("the rest passes: versions, pages, logins, mistakes", async () => {
  for (const path of ["/version", "/", "/traces?project=x"]) assert.equal(await (await fetch(relay.url + path)).text(), await (await fetch(server.url + path)).text());
  /** @type {[string, object, object][]} */
  const wrong = [
    ["/api/none", {}, {}],
    ["/api/bulk_log", { logs: [] }, {}],
    ["/api/bulk_log", { hf_token: null, logs: [{}] }, {}],
    ["/api/bulk_log", { hf_token: null, logs: [] }, { "x-trackio-write-token": "wrong" }],
    ["/api/bulk_log", BODY, { "content-encoding": "gzip" }],
  ];
  for (const [path, body, headers] of wrong) {
    const [direct, throughRelay] = [await post(server.url, path, body, headers), await post(relay.url, path, body, headers)];
    assert.deepEqual([throughRelay.status, throughRelay.text], [direct.status, direct.text]);
    if (path === "/api/none") assert.equal(direct.status, 404);
  }
});
