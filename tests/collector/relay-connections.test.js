/** Connections live as they would without a relay, and end when the relay ends; bodies have bounds. */
import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import { connect } from "node:net";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { count, relayContext, relayed } from "./support/relay.js";
import { ask, parsed, talk } from "./support/wire.js";

/** @typedef {import("node:net").Socket} Socket */

/** @type {Awaited<ReturnType<typeof relayContext>>} */
let context;
before(async () => (context = await relayContext()));
after(() => context.close());

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
/** @param {string} path @param {string} [body] */
const post = (path, body = '{"resourceSpans":[]}') => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const get = (/** @type {string} */ path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
const pause = (/** @type {number} */ millis) => new Promise((resolve) => setTimeout(resolve, millis));

test("one connection for one of the client, which ends with that of the backend", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket, { start }) => {
    socket.write(OK);
    // As a backend does after some idle seconds.
    if (start.includes("/3")) setTimeout(() => socket.end(), 50);
  });
  let answers = 0;
  const { text, ending } = await ask(relay.port, get("/1"), () => ++answers === 1, post("/v1/traces") + get("/3"));
  assert.deepEqual([text.split("hi").length - 1, ending], [3, "end"]);
  assert.equal(backend.sockets.length, 1);
  // And the other way round.
  const client = connect(relay.port, "127.0.0.1");
  client.write(get("/1"));
  await once(client, "data");
  const ended = once(backend.sockets[1], "close");
  client.end();
  await ended;
});

test("the client is told how long the backend keeps connections, and the relay keeps them as long", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket, { start }) => {
    socket.write(OK.replace("Content", "Connection: Keep-Alive\r\nKeep-Alive: timeout=1, max=9\r\nContent"));
    if (start.includes("/2")) socket.end();
  });
  const { text, ending } = await ask(relay.port, get("/1"), (text) => text.endsWith("hi"), get("/2"));
  assert.deepEqual([text.match(/Keep-Alive: timeout=1, max=9\r\n/g)?.length, ending], [2, "end"]);
  assert.equal(backend.sockets.length, 1);
});

test("requests sent without waiting are answered in their order, held or not", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket, { start }) => void (start.includes("/last") ? socket.end(OK) : socket.write(OK)));
  await talk(relay.port, post("/v1/traces") + get("/2") + post("/v1/traces") + post("/x", "abc") + get("/last"));
  const asked = ["POST /v1/traces", "GET /2", "POST /v1/traces", "POST /x", "GET /last"];
  assert.deepEqual(backend.seen.map(({ start }) => start.replace(" HTTP/1.1", "")), asked);
});

test("what a client has sent after the last request that the backend takes goes nowhere", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket) => socket.end(OK.replace("Content", "Connection: close\r\nContent")));
  const { text, ending } = await talk(relay.port, get("/1") + get("/2"));
  assert.deepEqual([text.split("hi").length - 1, ending, backend.seen.length], [1, "end", 1]);
});

test("a backend that ends the connection while its answer is held: the client's ends after the answer", async (t) => {
  /** @type {Socket | undefined} */
  let answering;
  const slow = /** @type {any} */ ({
    async enrich() {
      if (answering && !answering.closed) await once(answering, "close");
      await pause(50);
      return { outcome: "undecoded", reason: "error", message: "none" };
    },
    close: async () => {},
  });
  const own = await relayContext({ enrichReads: true }, slow);
  const { relay } = await relayed(t, own, (socket) => (answering = socket).end(OK));
  const { text, ending } = await talk(relay.port, get("/api/3.0/mlflow/traces/get"));
  assert.deepEqual([parsed(text)?.body, ending], ["hi", "end"]);
});

/** A client that has had an answer, and has sent all but the end of traces. @param {import("node:test").TestContext} t */
async function begun(t) {
  const { backend, relay } = await relayed(t, context, (socket) => void socket.write(OK));
  const client = connect(relay.port, "127.0.0.1");
  client.write(get("/1"));
  await once(client, "data");
  const request = post("/v1/traces");
  client.write(request.slice(0, -1));
  return { backend, client, end: () => client.write(request.slice(-1)) };
}

test("a body that is held for long goes out by a fresh connection, not by one that the backend is about to end", async (t) => {
  const { backend, client, end } = await begun(t);
  await pause(1100);
  end();
  await once(client, "data");
  assert.equal(backend.sockets.length, 2);
  assert.equal(client.readyState, "open");
  client.destroy();
});

test("an idle connection that the backend ends while a body is held costs the client nothing", async (t) => {
  const { backend, client, end } = await begun(t);
  await pause(50);
  backend.sockets[0].end();
  await once(backend.sockets[0], "close");
  end();
  const [answer] = await once(client, "data");
  assert.match(String(answer), /hi$/);
  client.destroy();
});

test("expecting a word before a body that is held: the relay gives it", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket) => socket.end(OK));
  const [head, body] = post("/v1/traces").replace("Content", "Expect: 100-continue\r\nContent").split(/(?<=\r\n\r\n)/);
  const { text } = await ask(relay.port, head, (text) => text.includes("100 Continue"), body);
  assert.match(text, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK[^]*hi$/);
  assert.deepEqual([backend.seen[0].body, backend.seen[0].headers.some((line) => line.startsWith("Expect"))], [body, false]);
});

test("a body beyond the limit streams on as it came, and is counted", async (t) => {
  const own = await relayContext({ limits: { ...context.configuration.limits, bodyBytes: 1000 } });
  t.after(() => own.close());
  const { backend, relay } = await relayed(t, own, (socket) => socket.end(OK));
  const body = "x".repeat(5000);
  const chunk = `${(1000).toString(16)}\r\n${body.slice(0, 1000)}\r\n`;
  await talk(relay.port, post("/v1/traces", body));
  await talk(relay.port, `POST /v1/traces HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(5)}0\r\nX-T: 1\r\n\r\n`);
  assert.deepEqual(backend.seen.map(({ body, trailers }) => [body.length, trailers]), [[5000, []], [5000, ["X-T: 1"]]]);
  assert.equal(await count(own, "token2text_undecoded_total", 'listener="relay mlflow",reason="too_large"'), 2);
});

test("beyond what all bodies may have together, the next one streams on", async (t) => {
  const own = await relayContext({ limits: { ...context.configuration.limits, heldBytes: 1500 } });
  t.after(() => own.close());
  const { backend, relay } = await relayed(t, own, (socket) => socket.end(OK));
  const first = connect(relay.port, "127.0.0.1");
  first.write(post("/v1/traces", "x".repeat(1000)).slice(0, -1));
  while ((await count(own, "token2text_held_bytes", "")) !== 999) await pause(5);
  await talk(relay.port, post("/v1/traces", "y".repeat(1000)));
  assert.equal(backend.seen[0].body, "y".repeat(1000));
  assert.equal(await count(own, "token2text_undecoded_total", 'listener="relay mlflow",reason="overloaded"'), 1);
  first.destroy();
});

test("closing lets what is under way end, closes what is idle, and takes nothing more", async (t) => {
  /** @type {Socket[]} */
  const waiting = [];
  const { relay } = await relayed(t, context, (socket, { start }) => void (start.includes("slow") ? waiting.push(socket) : socket.write(OK)));
  const [unused, idle] = [connect(relay.port, "127.0.0.1"), connect(relay.port, "127.0.0.1")];
  await once(unused, "connect");
  idle.write(get("/1"));
  await once(idle, "data");
  const slow = talk(relay.port, get("/slow"));
  while (waiting.length === 0) await pause(5);
  const closed = relay.close();
  await Promise.all([unused, idle].map((socket) => once(socket.resume(), "end")));
  const [error] = await once(connect(relay.port, "127.0.0.1"), "error");
  assert.equal(error.code, "ECONNREFUSED");
  waiting[0].write(OK);
  const { text, ending } = await slow;
  assert.deepEqual([parsed(text)?.body, ending], ["hi", "end"]);
  assert.match(text, /\r\nConnection: close\r\n/);
  await closed;
});

test("closing has an end", async (t) => {
  const own = await relayContext({ limits: { ...context.configuration.limits, drainMillis: 100 } });
  t.after(() => own.close());
  /** @type {Socket[]} */
  const waiting = [];
  const { relay } = await relayed(t, own, (socket) => void waiting.push(socket));
  const slow = talk(relay.port, get("/slow"));
  while (waiting.length === 0) await pause(5);
  await relay.close();
  assert.equal((await slow).text, "");
});

test("large bodies stream through in bounded memory, as fast as the slower side takes them", async (t) => {
  const size = 300 << 20;
  let taken = 0;
  /** Lets the backend read. */
  let read = () => {};
  const backend = http.createServer((request, response) => {
    read = () => void request.resume();
    request.on("data", (chunk) => (taken += chunk.length)).pause().on("end", () => {
      response.writeHead(200, { "content-length": size });
      const chunk = Buffer.alloc(1 << 20, "z");
      let left = size >> 20;
      const more = () => {
        while (left > 0) if ((left--, !response.write(chunk))) return void response.once("drain", more);
        response.end();
      };
      more();
    });
  });
  backend.listen(0, "127.0.0.1");
  await once(backend, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (backend.address());
  // A process of its own, whose memory is the relay's.
  const child = fork(fileURLToPath(new URL("./support/relay-process.js", import.meta.url)), [`http://127.0.0.1:${port}`]);
  t.after(() => {
    child.kill();
    backend.close();
  });
  const [{ port: relayPort }] = await once(child, "message");
  const memory = async () => {
    child.send("memory");
    return (await once(child, "message"))[0].rss;
  };
  const before = await memory();
  const request = http.request({ port: relayPort, host: "127.0.0.1", method: "PUT", path: "/x", agent: false, headers: { "content-length": size } });
  const chunk = Buffer.alloc(1 << 20, "y");
  let sent = 0;
  let peak = 0;
  const watch = setInterval(async () => (peak = Math.max(peak, await memory())), 100);
  t.after(() => clearInterval(watch));
  const send = () => {
    while (sent < size) {
      sent += chunk.length;
      if (!request.write(chunk)) return void request.once("drain", send);
    }
    request.end();
  };
  send();
  for (let before = -1; before !== sent; await pause(200)) before = sent;
  assert.ok(sent < size / 2, `${sent} bytes were taken while the backend read nothing`);
  read();
  const [response] = await once(request, "response");
  assert.equal(taken, size);
  let got = 0;
  for await (const piece of response) got += piece.length;
  assert.equal(got, size);
  clearInterval(watch);
  assert.ok(peak > 0 && peak - before < 100 << 20, `${(peak - before) >> 20} MiB more`);
});
