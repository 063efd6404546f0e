/** What passes is what it would be without the relay: bytes on the wire, compared for both ways. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { relayContext, relayed } from "./support/relay.js";
import { ask, parsed, talk } from "./support/wire.js";

/** @type {Awaited<ReturnType<typeof relayContext>>} */
let context;
before(async () => (context = await relayContext()));
after(() => context.close());

const PLAIN = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
/** Beyond what Node takes by default. */
const long = "v".repeat(20_000);
const many = Array.from({ length: 500 }, (_, i) => `X-${i % 7}: ${i}\r\n`).join("");

/** Requests without their header Host, which comes second. @type {Record<string, [string, string]>} */
const REQUESTS = {
  "GET with odd escapes": ["GET /a%2Fb//c/../%zz/%E4?x=%00%&q=a+b&&=;[]|^`{}~'*&x=1 HTTP/1.1", "\r\n"],
  "a query alone": ["GET /? HTTP/1.1", "\r\n"],
  "OPTIONS of the server": ["OPTIONS * HTTP/1.1", "\r\n"],
  "a method of WebDAV": ["PROPFIND /x HTTP/1.1", "Depth: 1\r\nContent-Length: 3\r\n\r\nabc"],
  "POST with a length": ["POST /x HTTP/1.1", "Content-Type: a/b\r\nCONTENT-length: 5\r\nX-After: 1\r\n\r\n\0\xff\r\nz"],
  "POST with an empty body": ["POST /x HTTP/1.1", "Content-Length: 0\r\n\r\n"],
  "PUT in chunks": ["PUT /x HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n"],
  "PUT in no chunks at all": ["PUT /x HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  trailers: ["POST /x HTTP/1.1", "Transfer-Encoding: chunked\r\nTrailer: X-Sum, x-other\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\nx-other: 2\r\nX-Sum: 3\r\n\r\n"],
  "DELETE with a body": ["DELETE /x HTTP/1.1", "content-type: application/json\r\nContent-Length: 11\r\n\r\n{\"key\":\"k\"}"],
  "GET with a body": ["GET /x HTTP/1.1", "Content-Length: 3\r\n\r\nabc"],
  "GET with a body in chunks": ["GET /x HTTP/1.1", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"],
  "headers of every kind": ["GET /x HTTP/1.1", `Cookie: a=1\r\ncookie: b=2\r\nX-Empty:\r\nx-LATIN: \xe4\xff\r\nACCEPT: */*\r\nX-Long: ${long}\r\n${many}\r\n`],
  "what has no length but could": ["DELETE /x HTTP/1.1", "X-A: 1\r\n\r\n"],
  "headers of logins": ["GET /x HTTP/1.1", "Authorization: Basic abc\r\nProxy-Authorization: Bearer x\r\nX-Trackio-Write-Token: t\r\nOrigin: http://elsewhere\r\n\r\n"],
};

for (const [name, [start, rest]] of Object.entries(REQUESTS)) {
  test(`request: ${name}`, async (t) => {
    const { backend, relay } = await relayed(t, context, (socket) => socket.end(PLAIN));
    const bytes = (/** @type {number} */ port) => `${start}\r\nhOsT: 127.0.0.1:${port}\r\n${rest}`;
    assert.ok((await talk(backend.port, bytes(backend.port))).text.endsWith("hi"));
    assert.ok((await talk(relay.port, bytes(relay.port))).text.endsWith("hi"));
    const [direct, throughRelay] = backend.seen;
    assert.deepEqual({ ...throughRelay, length: 0, headers: withoutConnection(throughRelay.headers) }, { ...direct, length: 0, headers: withoutConnection(direct.headers) });
  });
}

/** @type {Record<string, string>} */
const ANSWERS = {
  "every kind of header": `HTTP/1.1 200 OK\r\nserver: uvicorn\r\nDate: now\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\nVARY: a\r\nVary: b\r\nX-Latin: \xe4\xff\r\nX-Empty:\r\nX-Long: ${long}\r\n${many}Content-Length: 2\r\nX-After: 1\r\n\r\nhi`,
  "no date and no text": "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n",
  "a text of its own": "HTTP/1.1 299 Sch\xf6n  so, wie's ist\r\nContent-Length: 1\r\n\r\n.",
  "a status beyond": "HTTP/1.1 999 What\r\nContent-Length: 1\r\n\r\n.",
  "no content": "HTTP/1.1 204 No Content\r\nX-A: 1\r\n\r\n",
  "not modified": "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\nContent-Length: 77\r\n\r\n",
  "a redirect": "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1/elsewhere\r\nContent-Length: 0\r\n\r\n",
  "a part": "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-1/9\r\nContent-Length: 2\r\n\r\nhi",
  "too many requests": "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nwait",
  "a login": "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"mlflow\"\r\nContent-Length: 0\r\n\r\n",
  "an error": "HTTP/1.1 500 Internal Server Error\r\ncontent-type: text/plain\r\nContent-Length: 4\r\n\r\noops",
  "no time": "HTTP/1.1 503 Service Unavailable\r\nRetry-After: Fri, 31 Dec 1999 23:59:59 GMT\r\nContent-Length: 0\r\n\r\n",
  chunks: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n",
  "chunks and trailers": "HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\nX-SUM: 2\r\n\r\n",
  "early hints": "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nlink: </b>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
  "processing, and a word nobody asked for": "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
  "bytes of all values": `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 256\r\n\r\n${Array.from({ length: 256 }, (_, i) => String.fromCharCode(i)).join("")}`,
};

for (const [name, answer] of Object.entries(ANSWERS)) {
  test(`answer: ${name}`, async (t) => {
    const { backend, relay } = await relayed(t, context, (socket) => socket.end(answer, "latin1"));
    const direct = await talk(backend.port, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    const throughRelay = await talk(relay.port, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert.equal(direct.text, answer);
    assert.deepEqual(messages(throughRelay), messages(direct));
  });
}

/** The messages of an answer, interim ones included, without what belongs to a connection. @param {{ text: string, ending: string }} said */
function messages({ text, ending }) {
  const found = [];
  while (text !== "") {
    const message = parsed(text, { hasBody: !/^HTTP\/1\.1 (1..|204|304)/.test(text) });
    assert.ok(message, text);
    found.push({ ...message, length: 0, headers: withoutConnection(message.headers) });
    text = text.slice(message.length);
  }
  return { found, ending };
}

/** Lines without the header of the connection, the port of a host, and the space after a name without a value. @param {string[]} headers */
function withoutConnection(headers) {
  const kept = headers.filter((line) => !/^connection: keep-alive$/i.test(line));
  return kept.map((line) => line.replace(/^(host: 127\.0\.0\.1:).*/i, "$1").trimEnd());
}

test("HEAD: the head alone, and the connection goes on", async (t) => {
  const { relay } = await relayed(t, context, (socket, { start }) => {
    if (start.startsWith("HEAD")) socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nETag: x\r\n\r\n");
    else socket.end(PLAIN);
  });
  const { text } = await talk(relay.port, "HEAD /x HTTP/1.1\r\nHost: localhost\r\n\r\nGET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const head = parsed(text, { hasBody: false });
  assert.deepEqual(withoutConnection(head?.headers ?? []), ["Content-Length: 2", "ETag: x"]);
  assert.equal(parsed(text.slice(head?.length))?.body, "hi");
});

test("HTTP/1.0: chunks come as one, ended by the connection", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket) => socket.write(ANSWERS["chunks and trailers"]));
  const { text, ending } = await talk(relay.port, "GET /x HTTP/1.0\r\nX-A: 1\r\n\r\n");
  assert.deepEqual([parsed(text)?.body, ending], ["abc", "end"]);
  assert.doesNotMatch(text, /chunked|trailer/i);
  assert.deepEqual(withoutConnection(backend.seen[0].headers), ["Host: 127.0.0.1:", "X-A: 1"]);
});

test("what has no length is ended by the connection, or by a last chunk", async (t) => {
  const { relay } = await relayed(t, context, (socket) => socket.end("HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\nabc"));
  const { text, ending } = await talk(relay.port, "GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  assert.deepEqual([parsed(text)?.body, parsed(text)?.isWhole, ending], ["abc", true, "end"]);
});

test("headers of one connection stay there, also an upgrade, which no backend of traces needs", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket) => socket.end("HTTP/1.1 200 OK\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\nProxy-Connection: close\r\nUpgrade: h2c\r\nX-B: 2\r\nContent-Length: 2\r\n\r\nhi"));
  const given = "Connection: Upgrade, x-own, content-length\r\nUpgrade: websocket\r\nX-Own: 1\r\nTE: trailers\r\nKeep-Alive: 3\r\nProxy-Connection: x\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nab";
  const { text } = await talk(relay.port, `POST /x HTTP/1.1\r\nHost: localhost\r\n${given}`);
  assert.deepEqual(withoutConnection(backend.seen[0].headers), ["Host: 127.0.0.1:", "X-A: 1", "Content-Length: 2"]);
  assert.deepEqual(parsed(text)?.headers, ["X-B: 2", "Content-Length: 2", "Connection: close"]);
});

test("the name of the host and the page's own origin are the backend's; paths stand under its path", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket) => socket.end(PLAIN), { path: "/under/it" });
  const origins = [`http://localhost:${relay.port}`, "http://elsewhere:1", "null", `https://localhost:${relay.port}`];
  for (const origin of origins) await talk(relay.port, `GET //a?b HTTP/1.1\r\nHost: localhost:${relay.port}\r\norigin: ${origin}\r\n\r\n`);
  const own = `127.0.0.1:${backend.port}`;
  const seen = backend.seen.map(({ start, headers }) => [start, ...headers.slice(0, 2)]);
  assert.deepEqual(seen, [backend.url, ...origins.slice(1)].map((origin) => ["GET /under/it//a?b HTTP/1.1", `Host: ${own}`, `origin: ${origin}`]));
});

test("the backend says whether it wants a body", async (t) => {
  const expect = { onHead: (/** @type {import("node:net").Socket} */ socket) => void socket.write("HTTP/1.1 100 Continue\r\n\r\n") };
  const { backend, relay } = await relayed(t, context, (socket) => socket.end(PLAIN), expect);
  const head = "POST /x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n";
  assert.match((await ask(relay.port, head, (text) => text.includes("100 Continue"), "abc")).text, /100 Continue\r\n\r\nHTTP\/1.1 200 OK[^]*hi$/);
  assert.deepEqual([backend.seen[0].body, backend.seen[0].headers.includes("Expect: 100-continue")], ["abc", true]);

  const refusing = { onHead: (/** @type {import("node:net").Socket} */ socket) => void socket.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n") };
  const { relay: other } = await relayed(t, context, () => {}, refusing);
  const { text, ending } = await ask(other.port, head, () => false, "");
  assert.match(text, /^HTTP\/1.1 401 Unauthorized/);
  assert.equal(ending, "end");
});

test("who asks for another host, or for a whole URL, is refused in words", async (t) => {
  const { backend, relay } = await relayed(t, context, (socket) => socket.end(PLAIN));
  assert.match((await talk(relay.port, "GET /x HTTP/1.1\r\nHost: rebound.example\r\n\r\n")).text, /^HTTP\/1.1 403 [^]*--allow-host/);
  assert.match((await talk(relay.port, "GET http://elsewhere/x HTTP/1.1\r\nHost: localhost\r\n\r\n")).text, /^HTTP\/1.1 400 [^]*no proxy/);
  assert.match((await talk(relay.port, "CONNECT elsewhere:80 HTTP/1.1\r\nHost: localhost\r\n\r\n")).text, /^$/);
  assert.equal(backend.seen.length, 0);
});
