/** What goes wrong behind a relay is seen in front of it as without one. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { count, relayContext, relayTo, relayed } from "./support/relay.js";
import { ask, parsed, talk } from "./support/wire.js";
import { freePort } from "../integration/support/servers.js";

/** @typedef {import("node:net").Socket} Socket */

/** @type {Awaited<ReturnType<typeof relayContext>>} */
let context;
before(async () => (context = await relayContext()));
after(() => context.close());

const GET = "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n";
/** A body of traces, which is held; this one has nothing to decode. */
const WRITE = 'POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"resourceSpans":[]}';

/** @type {Record<string, (socket: Socket) => void>} */
const FAULTS = {
  "an end without an answer": (socket) => socket.end(),
  "a reset without an answer": (socket) => socket.resetAndDestroy(),
  "garbage instead of an answer": (socket) => socket.end("\0\x01garbage\r\n\r\nmore"),
  "another protocol": (socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n"),
  "a cut in the body": (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc"),
  "a cut between chunks": (socket) => socket.end("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
};

for (const [name, fault] of Object.entries(FAULTS)) {
  for (const [kind, request] of Object.entries({ GET, "POST of traces": WRITE })) {
    test(`${kind}: ${name}`, async (t) => {
      const { backend, relay } = await relayed(t, context, fault);
      const direct = await talk(backend.port, request);
      const throughRelay = await talk(relay.port, request);
      assert.equal(throughRelay.ending, direct.ending);
      assert.equal(withoutConnection(throughRelay.text), direct.text);
    });
  }
}

test("half a head, then the end: no answer", async (t) => {
  const { relay } = await relayed(t, context, (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-"));
  assert.deepEqual(await talk(relay.port, GET), { text: "", ending: "end" });
});

test("a reset in the body", async (t) => {
  const { relay } = await relayed(t, context, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    setTimeout(() => socket.resetAndDestroy(), 100);
  });
  const { text, ending } = await talk(relay.port, GET);
  assert.deepEqual([parsed(text)?.body, ending], ["abc", "reset"]);
});

test("garbage between chunks", async (t) => {
  const { relay } = await relayed(t, context, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
    setTimeout(() => socket.end("garbage\r\n"), 100);
  });
  const { text } = await talk(relay.port, GET);
  assert.deepEqual([parsed(text)?.body, parsed(text)?.isWhole], ["abc", false]);
});

test("nobody listens: a reset, as near as an open connection comes to a refused one", async () => {
  const relay = await relayTo(context, "mlflow", `http://127.0.0.1:${await freePort()}`);
  for (const request of [GET, WRITE]) assert.deepEqual(await talk(relay.port, request), { text: "", ending: "reset" });
  assert.equal(await count(context, "token2text_answers_total", 'listener="relay mlflow",status="0"') > 0, true);
  await relay.close();
});

test("a backend that takes no more of a body: its answer arrives, and the connection ends", async (t) => {
  const answer = { onHead: (/** @type {Socket} */ socket) => void socket.end("HTTP/1.1 413 Content Too Large\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig") };
  const { relay } = await relayed(t, context, () => {}, answer);
  const size = 8 << 20;
  const { text, ending } = await ask(relay.port, `PUT /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${size}\r\n\r\n${"x".repeat(1000)}`, () => true, "y".repeat(size / 2));
  assert.match(text, /^HTTP\/1.1 413 /);
  assert.deepEqual([parsed(text)?.body, ending], ["big", "end"]);
});

test("a backend that resets in the middle of a body", async (t) => {
  const { relay } = await relayed(t, context, () => {}, { onHead: (socket) => socket.resetAndDestroy() });
  assert.deepEqual(await talk(relay.port, "PUT /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc"), { text: "", ending: "reset" });
});

test("a slow backend: the relay waits, and others do not", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket, { start }) => {
    if (!start.includes("slow")) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi");
  });
  const slow = Array.from({ length: 20 }, () => talk(relay.port, GET.replace("/x", "/slow")));
  for (let i = 0; i < 5; i++) assert.match((await talk(relay.port, GET)).text, /hi$/);
  assert.equal(backend.sockets.length, 25);
  for (const socket of backend.sockets) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate");
  for (const { text } of await Promise.all(slow)) assert.match(text, /late$/);
});

/** @type {Record<string, string>} */
const GOING = {
  "before the answer": GET,
  "in the middle of its body": "PUT /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc",
  "in chunks": "PUT /x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
};

for (const [name, request] of Object.entries(GOING)) {
  test(`a client that goes ${name}: the backend's connection ends`, async (t) => {
    /** @type {Promise<unknown> | undefined} */
    let ended;
    const { relay } = await relayed(t, context, () => {}, { onHead: (socket) => (ended = once(socket, "close")) });
    const client = connect(relay.port, "127.0.0.1");
    client.write(request);
    while (!ended) await new Promise((resolve) => setTimeout(resolve, 5));
    client.destroy();
    await ended;
  });
}

test("a client that goes while its body is held: nothing reaches the backend, and nothing is held any more", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket) => socket.end());
  const client = connect(relay.port, "127.0.0.1");
  client.write("POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nabc");
  const held = () => count(context, "token2text_held_bytes", "");
  while ((await held()) !== 3) await new Promise((resolve) => setTimeout(resolve, 5));
  client.destroy();
  while ((await held()) !== 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(backend.sockets.length, 0);
});

test("a client that goes while its body is enriched: the pool is told, and nothing reaches the backend", async (t) => {
  /** @type {AbortSignal | undefined} */
  let signal;
  const waiting = /** @type {import("../../collector/src/types.js").Enrichments} */ ({
    enrich: (request) => {
      ({ signal } = request);
      return new Promise((resolve) => signal?.addEventListener("abort", () => resolve({ outcome: "undecoded", reason: "error", message: "stopped" })));
    },
    close: async () => {},
  });
  const { backend, relay } = await relayed(t, await relayContext({}, waiting), (socket) => socket.end());
  const client = connect(relay.port, "127.0.0.1");
  client.write(WRITE);
  while (!signal) await new Promise((resolve) => setTimeout(resolve, 5));
  client.destroy();
  if (!signal.aborted) await once(signal, "abort");
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(backend.sockets.length, 0);
});

/** @param {string} text */
function withoutConnection(text) {
  return text.replace("\r\nConnection: keep-alive", "");
}
