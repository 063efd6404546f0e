/** What a relay logs: a line for each request, what went wrong, and nothing of what passed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog } from "../../collector/src/operations/log.js";
import { relayContext, relayTo, relayed } from "./support/relay.js";
import { freePort } from "../integration/support/servers.js";
import { talk } from "./support/wire.js";

test("a line for each request; secrets of requests and answers are in none", async (t) => {
  /** @type {any[]} */
  const lines = [];
  let all = "";
  const context = { ...(await relayContext()), log: createLog("debug", { write: (line) => ((all += line), lines.push(JSON.parse(line))) }) };
  t.after(() => context.close());
  const { relay } = await relayed(t, context, (socket) => socket.end("HTTP/1.1 200 OK\r\nSet-Cookie: SECRET\r\nContent-Length: 6\r\n\r\nSECRET"));
  // None of these ids has a text.
  const ids = JSON.stringify({ token_ids: Array.from({ length: 20 }, (_, i) => 4e6 + i), "SECRET key": "SECRET" });
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ name: "SECRET", attributes: [{ key: "mlflow.spanOutputs", value: { stringValue: ids } }] }] }] }] });
  const head = (/** @type {string} */ start) => `${start} HTTP/1.1\r\nHost: localhost\r\nAuthorization: SECRET\r\nContent-Type: application/json\r\n`;
  const write = `${head("POST /v1/traces?write_token=SECRET")}Content-Length: ${body.length}\r\n\r\n${body}`;
  await talk(relay.port, `${head("GET /version?token=SECRET")}\r\n`);
  await talk(relay.port, write);
  await talk(relay.port, write);
  await talk(relay.port, write.replace("Content-Type", "Content-Encoding: gzip\r\nContent-Type"));
  const down = await relayTo(context, "trackio", `http://127.0.0.1:${await freePort()}`);
  await talk(down.port, `${head("GET /x?SECRET")}\r\n`);
  await down.close();

  assert.doesNotMatch(all, /SECRET/);
  const listening = lines.filter(({ msg }) => msg === "listening");
  assert.deepEqual(listening.map(({ level, listener, port }) => [level, listener, port]), [["info", "relay mlflow", relay.port], ["info", "relay trackio", down.port]]);
  const requests = lines.filter(({ msg }) => msg === "request").map(({ level, method, path, kind, status, outcome }) => [level, method, path, kind, status, outcome]);
  const enriched = ["debug", "POST", "/v1/traces", "write", 200, "enriched"];
  assert.deepEqual(requests, [
    ["debug", "GET", "/version", "other", 200, undefined],
    enriched,
    enriched,
    ["debug", "POST", "/v1/traces", "write", 200, "invalid_encoding"],
    ["debug", "GET", "/x", "other", 0, undefined],
  ]);
  const warnings = lines.filter(({ level }) => level === "warn").map(({ listener, code, reason }) => [listener, code ?? reason]);
  assert.deepEqual(warnings, [["relay mlflow", "tokenizer_mismatch"], ["relay mlflow", "invalid_encoding"], ["relay trackio", "ECONNREFUSED"]]);
});
