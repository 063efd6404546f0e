/** What those who run the collector see: /health, /metrics, logs; and who may call. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request } from "node:http";
import { after, before, describe, test } from "node:test";
import { createEnrichments } from "../../collector/src/enrichment/pool.js";
import { isAllowedHost, isAllowedOrigin, isLoopback } from "../../collector/src/operations/access.js";
import { startAdmin } from "../../collector/src/operations/admin.js";
import { createLog, forPeople } from "../../collector/src/operations/log.js";
import { COUNTERS, GAUGES, HISTOGRAMS, createMetrics } from "../../collector/src/operations/metrics.js";
import { enricherOf, recorded } from "./support/bodies.js";
import { anywhere, configuration, startCollector } from "./support/collector.js";
import { parseMetrics, sample } from "./support/prometheus.js";

/** @typedef {import("../../collector/src/types.js").Address} Address */

/** A request with the headers as they are given, `Host` too, which fetch forbids. @param {string} url @param {{ method?: string, headers?: Record<string, string> }} [options] */
async function ask(url, { method = "GET", headers = {} } = {}) {
  const sent = request(url, { method, headers, agent: false }).end();
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return { status: response.statusCode, headers: response.headers, text };
}

describe("who may call", () => {
  const here = { host: "127.0.0.1", port: 5001 };
  /** @type {[host: string | undefined, address: Address, hosts: string[], isAllowed: boolean][]} */
  const HOSTS = [
    ["127.0.0.1:5001", here, [], true],
    ["127.8.9.10", here, [], true],
    ["LocalHost:1", here, [], true],
    ["localhost.", here, [], true],
    ["mlflow.localhost:5001", here, [], true],
    ["[::1]:5001", here, [], true],
    [undefined, here, [], true],
    ["rebound.example:5001", here, [], false],
    ["rebound.example:5001", here, ["rebound.example"], true],
    ["REBOUND.example", here, ["rebound.example"], true],
    ["notlocalhost", here, [], false],
    ["localhost.rebound.example", here, [], false],
    ["127.0.0.1.rebound.example", here, [], false],
    ["127.0.0.1@rebound.example", here, [], false],
    ["localhost:80:80", here, [], false],
    ["", here, [], false],
    ["10.0.0.5:5001", here, [], false],
    ["10.0.0.5:5001", { host: "10.0.0.5", port: 5001 }, [], true],
    ["head-node:5001", { host: "head-node", port: 5001 }, [], true],
    ["10.0.0.5:5001", { host: "0.0.0.0", port: 5001 }, [], true],
    ["[fd00::5]", { host: "::", port: 5001 }, [], true],
    ["rebound.example", { host: "0.0.0.0", port: 5001 }, [], false],
  ];
  for (const [host, address, hosts, isAllowed] of HOSTS) {
    test(`Host ${host} at ${address.host}${hosts.length > 0 ? `, with ${hosts}` : ""}: ${isAllowed}`, () => {
      assert.equal(isAllowedHost(host, address, hosts), isAllowed);
    });
  }

  /** @type {[origin: string | undefined, host: string, origins: string[], isAllowed: boolean][]} */
  const ORIGINS = [
    [undefined, "127.0.0.1:4318", [], true],
    ["http://127.0.0.1:4318", "127.0.0.1:4318", [], true],
    ["http://127.0.0.1:4319", "127.0.0.1:4318", [], false],
    ["null", "127.0.0.1:4318", [], false],
    ["https://pages.example", "127.0.0.1:4318", [], false],
    ["https://pages.example", "127.0.0.1:4318", ["https://pages.example"], true],
    ["http://pages.example", "127.0.0.1:4318", ["https://pages.example"], false],
    ["https://pages.example.evil", "127.0.0.1:4318", ["https://pages.example"], false],
    ["https://any.example", "127.0.0.1:4318", ["*"], true],
  ];
  for (const [origin, host, origins, isAllowed] of ORIGINS) {
    test(`Origin ${origin} at ${host}${origins.length > 0 ? `, with ${origins}` : ""}: ${isAllowed}`, () => {
      assert.equal(isAllowedOrigin(origin, host, origins), isAllowed);
    });
  }

  test("loopback names", () => {
    assert.deepEqual(["localhost", "a.localhost", "127.0.0.2", "::1"].filter(isLoopback).length, 4);
    assert.deepEqual(["0.0.0.0", "::", "128.0.0.1", "host", "127.0.0.1.example"].filter(isLoopback), []);
  });
});

describe("admin", () => {
  /** @type {{ urls: string[], close: () => Promise<void> }} */
  let collector;
  /** What the backend has got. @type {Buffer[]} */
  const arrived = [];
  const backend = createServer(async (incoming, answer) => {
    const chunks = [];
    for await (const chunk of incoming) chunks.push(chunk);
    arrived.push(Buffer.concat(chunks));
    answer.writeHead(incoming.url === "/broken" ? 503 : 200).end();
  });
  const calls = recorded("js-proto-qwen3/01-v1-traces.pb");

  before(async () => {
    await once(backend.listen(0, "127.0.0.1"), "listening");
    const { port } = /** @type {import("node:net").AddressInfo} */ (backend.address());
    collector = await startCollector({
      relays: [{ backend: "otlp", listen: anywhere, upstream: new URL(`http://127.0.0.1:${port}`) }],
      admin: anywhere,
      access: { hosts: ["collector.example"], origins: ["https://pages.example"], token: "s3cret" },
    });
  });
  after(async () => {
    await collector.close();
    backend.close();
  });
  const authorization = "Bearer s3cret";

  test("/health names version, workers, tokenizers and listeners", async () => {
    const [relay, admin] = collector.urls;
    const { status, text } = await ask(`${admin}/health`, { headers: { authorization } });
    assert.equal(status, 200);
    const { version, tokenizers, listeners, ...rest } = JSON.parse(text);
    assert.match(version, /^\d+\.\d+\.\d+/);
    assert.deepEqual(rest, { status: "ok", workers: 1 });
    assert.equal(tokenizers[0].pattern, "*");
    const addressOf = (/** @type {string} */ url) => ({ host: "127.0.0.1", port: Number(new URL(url).port) });
    assert.deepEqual(listeners, [{ name: "relay otlp", ...addressOf(relay) }, { name: "admin", ...addressOf(admin) }]);
  });

  test("/health says 503 while no worker is ready", async () => {
    let ready = false;
    const context = {
      configuration: configuration({}),
      enrichments: { health: () => ({ ready, workers: 2, tokenizers: [] }) },
      metrics: createMetrics(),
    };
    const listener = await startAdmin(/** @type {any} */ (context), anywhere);
    const url = `http://127.0.0.1:${listener.address.port}`;
    const before = await ask(`${url}/health`);
    assert.deepEqual([before.status, JSON.parse(before.text).status], [503, "not ready"]);
    assert.equal(sample(parseMetrics((await ask(`${url}/metrics`)).text), "token2text_ready"), 0);
    ready = true;
    assert.equal((await ask(`${url}/health`)).status, 200);
    await listener.close();
  });

  test("without the token nothing is told", async () => {
    const [, admin] = collector.urls;
    for (const path of ["/health", "/metrics", "/elsewhere"]) {
      for (const header of [undefined, "Bearer s3cre", "Bearer s3cret2", "Basic s3cret", "s3cret"]) {
        const { status, headers, text } = await ask(`${admin}${path}`, { headers: header ? { authorization: header } : {} });
        assert.equal(status, 401, `${path} ${header}`);
        assert.equal(headers["www-authenticate"], 'Bearer realm="token2text", Basic realm="token2text", charset="UTF-8"');
        assert.deepEqual(JSON.parse(text), { error: "a token is needed here: Authorization: Bearer TOKEN, with the TOKEN of --token" });
      }
    }
    assert.equal((await ask(`${admin}/health`, { headers: { authorization: "bearer s3cret" } })).status, 200, "the scheme in any case");
    assert.equal((await ask(`${admin}/elsewhere`, { headers: { authorization } })).status, 404);
  });

  test("a name that was not allowed is refused before the token is looked at, here and by relays", async () => {
    const [relay, admin] = collector.urls;
    for (const url of [`${admin}/health`, `${relay}/v1/traces`]) {
      assert.equal((await ask(url, { headers: { host: "rebound.example", authorization } })).status, 403, url);
      assert.equal((await ask(url, { headers: { host: "collector.example:80", authorization } })).status, 200, url);
    }
  });

  test("pages: only those of listed origins, after a preflight without the token", async () => {
    const [, admin] = collector.urls;
    const preflight = { "access-control-request-method": "GET", "access-control-request-headers": "authorization" };
    const good = await ask(`${admin}/metrics`, { method: "OPTIONS", headers: { origin: "https://pages.example", ...preflight } });
    assert.equal(good.status, 204);
    assert.equal(good.headers["access-control-allow-origin"], "https://pages.example");
    assert.equal(good.headers["access-control-allow-headers"], "authorization");
    const read = await ask(`${admin}/metrics`, { headers: { origin: "https://pages.example", authorization } });
    assert.deepEqual([read.status, read.headers["access-control-allow-origin"]], [200, "https://pages.example"]);
    for (const method of ["OPTIONS", "GET"]) {
      const bad = await ask(`${admin}/metrics`, { method, headers: { origin: "https://other.example", authorization, ...preflight } });
      assert.deepEqual([bad.status, bad.headers["access-control-allow-origin"]], [403, undefined], method);
    }
  });

  test("/metrics counts what passed, as the report of token2text has it", async () => {
    const [relay, admin] = collector.urls;
    const post = (/** @type {string} */ path, /** @type {Uint8Array} */ body, /** @type {string} */ type) =>
      fetch(`${relay}${path}`, { method: "POST", body: new Uint8Array(body), headers: { "content-type": type } });
    assert.equal((await post("/v1/traces", calls.body, "application/x-protobuf")).status, 200);
    assert.equal((await post("/v1/traces", Buffer.from('{"resourceSpans":[]}'), "application/json")).status, 200);
    assert.equal((await post("/v1/traces", Buffer.from([0x0a, 0xff, 0xff]), "application/x-protobuf")).status, 200);
    assert.equal((await post("/broken", Buffer.from("x"), "text/plain")).status, 503);

    const { text, headers } = await ask(`${admin}/metrics`, { headers: { authorization } });
    assert.match(headers["content-type"] ?? "", /^text\/plain; version=0\.0\.4/);
    const families = parseMetrics(text);
    const { report } = enricherOf("qwen3").enrichBody(calls.body, { contentType: calls.contentType, url: calls.url });
    const listener = "relay otlp";
    const of = (/** @type {string} */ name, /** @type {Record<string, string>} */ labels = {}) => sample(families, name, { listener, ...labels });
    assert.ok(report.totals.decoded > 0);
    assert.equal(of("token2text_requests_total", { kind: "write" }), 3);
    assert.equal(of("token2text_answers_total", { status: "200" }), 4, "with one of the test of names");
    assert.equal(of("token2text_answers_total", { status: "503" }), 1);
    assert.equal(of("token2text_bodies_total", { outcome: "enriched" }), 1);
    assert.equal(of("token2text_bodies_total", { outcome: "unchanged" }), 1);
    assert.equal(of("token2text_bodies_total", { outcome: "undecoded" }), 1);
    assert.equal(of("token2text_undecoded_total", { reason: "error" }), 1);
    assert.equal(of("token2text_fields_total", { status: "decoded" }), report.totals.decoded);
    assert.equal(of("token2text_fields_total", { status: "skipped" }), report.totals.skipped);
    assert.equal(of("token2text_conversations_total", { outcome: "written" }), report.totals.messages);
    assert.equal(of("token2text_ids_total"), report.totals.ids);
    assert.equal(of("token2text_enrich_seconds_count"), 3);
    assert.equal(of("token2text_request_seconds_count"), 6, "with those of the test of names");
    assert.equal(sample(families, "token2text_held_bytes"), 0);
    assert.equal(sample(families, "token2text_tokenizer_loaded", { pattern: "*" }), 1);
    assert.ok(/** @type {number} */ (sample(families, "process_resident_memory_bytes")) > 0);
  });

  test("what sampling leaves out is counted", async () => {
    const metrics = createMetrics();
    const enrichments = await createEnrichments(configuration({ sample: 1e-9 }), createLog("silent"));
    const result = await enrichments.enrich({ body: calls.body, contentType: calls.contentType, url: calls.url, sampling: "decode" });
    metrics.enriched({ listener: "relay otlp" }, result, 0.001);
    await enrichments.close();
    const families = parseMetrics(await metrics.text());
    const { report } = enricherOf("qwen3").enrichBody(calls.body, { contentType: calls.contentType, url: calls.url });
    assert.equal(sample(families, "token2text_left_out_total", { listener: "relay otlp" }), report.spans);
    assert.equal(sample(families, "token2text_undecoded_total", { listener: "relay otlp", reason: "not_sampled" }), 1);
  });

  test("metrics are what the tables say, and named as Prometheus asks", async () => {
    const families = parseMetrics(await createMetrics().text());
    for (const [type, table] of Object.entries({ counter: COUNTERS, histogram: HISTOGRAMS, gauge: GAUGES })) {
      for (const { name, help } of Object.values(table)) {
        const family = families.find((family) => family.name === name.replace(/_total$/, ""));
        assert.deepEqual([family?.type, family?.help], [type, help], name);
        assert.equal(name.endsWith("_total"), type === "counter", name);
        assert.match(name, /^token2text_[a-z_]+$/);
        if (type === "histogram") assert.match(name, /_seconds$/);
      }
    }
  });
});

describe("logs", () => {
  /** @param {(log: import("../../collector/node_modules/pino/pino.js").Logger) => void} work @param {boolean} [isTTY] */
  function logged(work, isTTY = false) {
    /** @type {string[]} */
    const lines = [];
    work(/** @type {any} */ (createLog("debug", { isTTY, write: (/** @type {string} */ line) => lines.push(line) })));
    return lines;
  }

  test("a line of JSON each, with the time, the level's name, and of a request no query", () => {
    const [line] = logged((log) => log.warn({ req: { method: "POST", url: "/api/bulk_log?write_token=s3cret", headers: { authorization: "x" } }, reason: "timeout" }, "a body goes on"));
    const { time, ...rest } = JSON.parse(line);
    assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.deepEqual(rest, { level: "warn", msg: "a body goes on", reason: "timeout", req: { method: "POST", path: "/api/bulk_log" } });
  });

  test("on a terminal a line for people, which cannot steer it", () => {
    const [line] = logged((log) => log.error({ listener: "relay mlflow", err: new Error("no\x1b[2Jway\nfake line"), count: 3 }, "it\x07 failed"), true);
    // eslint-disable-next-line no-control-regex
    const plain = line.replace(/\x1b\[\d+m/g, "");
    assert.match(plain, /^\d\d:\d\d:\d\d error it\\x07 failed {2}listener="relay mlflow" {2}count=3 {2}error=no\\x1b\[2Jway\\x0afake line\n$/);
    assert.notEqual(line, plain, "there are colours");
  });

  test("without colours where none are wanted", () => {
    /** @type {string[]} */
    const lines = [];
    forPeople({ write: (line) => lines.push(line) }, false).write('{"level":"info","time":"2026-01-02T03:04:05.678Z","msg":"listens","to":"http://a"}\n');
    assert.deepEqual(lines, ["03:04:05 info  listens  to=http://a\n"]);
  });

  test("below the level nothing is said", () => {
    assert.deepEqual(logged((log) => log.trace("x")), []);
  });
});
