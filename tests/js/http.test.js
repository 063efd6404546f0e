/** The requests of exporters, against a server of this process. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { request, withRetry } from "../../pkg/exporters/http.js";
import { listening } from "./support/server.js";

/** @typedef {{ method?: string, headers: import("node:http").IncomingHttpHeaders, body: Buffer }} Seen */

let url = "";
/** @type {Seen[]} */
let seen = [];
/** @type {Record<string, [number, Record<string, string>, string]>} */
const ANSWERS = {
  "/ok": [200, { "x-name": "value" }, "fine"],
  "/message": [400, {}, '{"error_code":"X","message":"bad field"}'],
  "/detail": [422, {}, '{"detail":"no header"}'],
  "/page": [404, {}, "<html>nothing</html>"],
  "/moved": [301, { location: "/ok" }, ""],
  "/seconds": [503, { "retry-after": "7" }, "busy"],
  "/date": [429, { "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }, ""],
  "/past": [429, { "retry-after": "Thu, 01 Jan 1970 00:00:00 GMT" }, ""],
  "/nonsense": [429, { "retry-after": "soon" }, ""],
};

const server = createServer((incoming, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  incoming.on("data", (chunk) => chunks.push(chunk));
  incoming.on("end", () => {
    const path = String(incoming.url);
    seen.push({ method: incoming.method, headers: incoming.headers, body: Buffer.concat(chunks) });
    if (path === "/never") return;
    if (path === "/cut") return void incoming.socket.destroy();
    const [status, headers, body] = ANSWERS[path] ?? [Number(path.slice(1)), {}, ""];
    response.writeHead(status, headers).end(body);
  });
});
listening(server, (at) => (url = at));

/** @param {string} path @param {object} [more] @param {import("../../pkg/exporters/http.js").HttpOptions} [options] */
async function ask(path, more, options) {
  seen = [];
  return request({ url: url + path, ...more }, options);
}

/** @param {import("../../pkg/exporters/http.js").HttpResult} result */
function problem(result) {
  if (result.status === "success") throw new Error("there is no problem");
  return result;
}

test("a success has the bytes and the headers of the answer", async () => {
  const result = await ask("/ok", { method: "POST", headers: { "content-type": "text/plain" }, body: "hé" });
  assert.equal(result.status, "success");
  assert.equal(result.httpStatus, 200);
  assert.equal(Buffer.from(result.body).toString(), "fine");
  assert.equal(result.headers.get("x-name"), "value");
  assert.equal(seen[0].method, "POST");
  assert.equal(seen[0].headers["content-type"], "text/plain");
  assert.equal(seen[0].body.toString(), "hé");
});

test("gzip is used for bodies that are worth it", async () => {
  const large = new Uint8Array(5000).fill(7);
  await ask("/ok", { method: "PUT", body: large, gzip: true });
  assert.equal(seen[0].headers["content-encoding"], "gzip");
  assert.deepEqual(gunzipSync(seen[0].body), Buffer.from(large));
  assert.ok(large.every((byte) => byte === 7));
  await ask("/ok", { method: "PUT", body: new Uint8Array([1]), gzip: true });
  assert.equal(seen[0].headers["content-encoding"], undefined);
});

test("each status is one that may pass or one that stays", async () => {
  for (const status of [408, 429, 502, 503, 504]) assert.equal(problem(await ask(`/${status}`)).status, "retryable", String(status));
  for (const status of [400, 401, 403, 404, 409, 413, 422, 500, 501]) {
    const result = problem(await ask(`/${status}`));
    assert.equal(result.status, "failure", String(status));
    assert.equal(result.httpStatus, status);
    assert.equal(result.error.code, "refused");
  }
});

test("what the server says is told", async () => {
  const cases = { "/message": /status 400: bad field$/, "/detail": /status 422: no header$/, "/page": /\/page: status 404$/, "/seconds": /503: busy$/ };
  for (const [path, message] of Object.entries(cases)) assert.match(problem(await ask(path)).error.message, message);
  assert.equal(problem(await ask("/page")).answer, "<html>nothing</html>");
});

test("Retry-After is seconds or a date", async () => {
  const now = () => 15_000;
  for (const [path, millis] of Object.entries({ "/seconds": 7000, "/date": 45_000, "/past": 0, "/nonsense": undefined, "/503": undefined })) {
    const result = await ask(path, {}, { now });
    assert.equal(result.status, "retryable");
    assert.equal(result.retryAfterMs, millis, path);
  }
});

test("no answer, an answer that is cut and one that is late are retryable", async () => {
  const closed = createServer();
  await new Promise((resolve) => closed.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (closed.address());
  await new Promise((resolve) => closed.close(resolve));
  const results = [
    await request({ url: `http://127.0.0.1:${port}/` }),
    await ask("/cut"),
    await ask("/never", {}, { timeoutMillis: 50 }),
  ];
  for (const result of results.map(problem)) {
    assert.equal(result.status, "retryable");
    assert.equal(result.error.code, "unreachable");
  }
  assert.match(problem(results[0]).error.message, /ECONNREFUSED/);
  assert.match(problem(results[2]).error.message, /\/never: no answer within 50 ms$/);
});

test("what cannot be sent fails for good", async () => {
  /** @type {import("../../pkg/exporters/http.js").HttpRequest[]} */
  const unfit = [{ url: "nowhere" }, { url, headers: { "x-name": "a\nb" } }, { url, headers: { "bad name": "x" } }];
  for (const bad of unfit) {
    const result = problem(await request(bad));
    assert.equal(result.status, "failure");
    assert.equal(result.error.code, "invalid_options");
  }
});

test("a redirected post is no success", async () => {
  const result = problem(await ask("/moved", { method: "POST", body: "x" }));
  assert.equal(result.status, "failure");
  assert.match(result.error.message, /redirected to http.*\/ok/);
  assert.equal((await ask("/moved")).status, "success");
});

test("a signal ends the request", async () => {
  const controller = new AbortController();
  const waiting = ask("/never", {}, { signal: controller.signal });
  setTimeout(() => controller.abort(), 20);
  for (const result of [await waiting, await ask("/ok", {}, { signal: controller.signal })].map(problem)) {
    assert.equal(result.status, "failure");
    assert.equal(result.error.name, "AbortError");
  }
});

/** @param {{ status: string, retryAfterMs?: number }[]} results @param {import("../../pkg/exporters/http.js").RetryOptions} [options] */
function scripted(results, options) {
  /** @type {number[]} */
  const waits = [];
  let calls = 0;
  const send = async () => results[Math.min(calls++, results.length - 1)];
  const sleep = async (/** @type {number} */ millis) => void waits.push(millis);
  return { retrying: withRetry(send, { sleep, random: () => 0.5, ...options }), waits, calls: () => calls };
}
const later = { status: "retryable" };

test("retries wait longer each time, and end", async () => {
  const { retrying, waits, calls } = scripted([later], { maxBackoffMillis: 3000 });
  assert.equal(await retrying(), later);
  assert.deepEqual(waits, [1000, 2000, 3000, 3000]);
  assert.equal(calls(), 5);
});

test("jitter moves a wait by a fifth at most", async () => {
  for (const [random, wait] of [[0, 800], [1, 1200]]) {
    const { retrying, waits } = scripted([later, { status: "success" }], { random: () => random });
    await retrying();
    assert.deepEqual(waits, [wait]);
  }
});

test("success and failure are answers at once", async () => {
  for (const status of ["success", "failure"]) {
    const { retrying, waits } = scripted([{ status }]);
    assert.equal((await retrying()).status, status);
    assert.deepEqual(waits, []);
  }
});

test("a server is given the time that it asks for, within reason", async () => {
  const { retrying, waits } = scripted([{ status: "retryable", retryAfterMs: 9000 }, { status: "success" }]);
  assert.equal((await retrying()).status, "success");
  assert.deepEqual(waits, [9000]);
  const patient = scripted([{ status: "retryable", retryAfterMs: 1e9 }]);
  assert.equal((await patient.retrying()).status, "retryable");
  assert.equal(patient.calls(), 1);
});

test("a signal ends the waiting", async () => {
  const controller = new AbortController();
  let calls = 0;
  const send = withRetry(async () => ({ ...later, call: ++calls }), { signal: controller.signal, initialBackoffMillis: 1e6, maxBackoffMillis: 1e6 });
  const waiting = send();
  setTimeout(() => controller.abort(), 20);
  assert.equal((await waiting).call, 1);
});

test("arguments are passed on", async () => {
  const send = withRetry(async (/** @type {number} */ a, /** @type {number} */ b) => ({ status: "success", sum: a + b }));
  assert.equal((await send(1, 2)).sum, 3);
});

test("a request is tried again until the server is back", async () => {
  let asked = 0;
  const flaky = createServer((_, response) => void response.writeHead(++asked < 3 ? 503 : 200).end());
  await new Promise((resolve) => flaky.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (flaky.address());
  const result = await withRetry(request, { initialBackoffMillis: 1 })({ url: `http://127.0.0.1:${port}/` });
  flaky.close();
  assert.equal(result.status, "success");
  assert.equal(asked, 3);
});
