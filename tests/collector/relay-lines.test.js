/** JSON lines are enriched while they stream. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Enricher, Tokenizer } from "../../pkg/node.js";
import { pieces } from "../../collector/src/relay/lines.js";
import { count, relayContext, relayed } from "./support/relay.js";
import { tokenizerFile } from "./support/collector.js";
import { ask, parsed } from "./support/wire.js";

/** @param {string[]} chunks @param {number} most */
async function cut(chunks, most) {
  const found = [];
  for await (const { bytes, isWhole } of pieces(/** @type {any} */ (chunks.map((chunk) => Buffer.from(chunk))), most)) found.push([bytes.toString(), isWhole]);
  return found;
}

test("pieces are whole lines, however the stream was cut, unless a line is too long", async () => {
  assert.deepEqual(await cut(["a\nb", "c\n", "d"], 100), [["a\nbc\nd", true]]);
  assert.deepEqual(await cut([], 100), []);
  const line = `${"x".repeat(300 << 10)}\n`;
  assert.deepEqual(await cut([`${line}a`, "b\n", line.slice(0, 5), line.slice(5), "c\nd"], 1 << 20), [[line, true], [`ab\n${line}`, true], ["c\nd", true]]);
  assert.deepEqual(await cut(["a\nb\nc", "d".repeat(20), "e", "\nf\n"], 10), [["a\nb\n", true], [`c${"d".repeat(20)}`, false], ["e", false], ["\n", false], ["f\n", true]]);
  assert.deepEqual(await cut(["abcde", "fghijk", "l\n", `${line}m\n`, "n"], 10), [["abcdefghijk", false], ["l\n", false], [`${line}m\n`, true], ["n", true]]);
});

test("the first lines are there before the last; a line that is too long passes as it came", async (t) => {
  const enricher = new Enricher(await Tokenizer.load(tokenizerFile), { messages: true });
  const file = readFileSync(new URL("../fixtures/captures/weave-js-agent-llama3_1/05-stream-query.jsonl", import.meta.url));
  // Enough for a piece, which is sent before the rest is there.
  const lines = Buffer.concat(Array.from({ length: Math.ceil((300 << 10) / file.length) }, () => file));
  const long = Buffer.from(`{"op_name": "${"x".repeat(2 << 20)}", "trace_id": "t", "output": {"token_ids": [1, 2, 3]}}\n`);
  const enriched = Buffer.from(enricher.enrichBody(lines, { url: "/calls/stream_query" }).body);
  assert.notEqual(enriched.length, lines.length);

  const context = await relayContext({ enrichReads: true });
  t.after(() => context.close());
  context.configuration.limits = { ...context.configuration.limits, bodyBytes: 1 << 20 };
  let goOn = () => {};
  const options = { backend: /** @type {const} */ ("weave") };
  const { relay } = await relayed(t, context, (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/jsonl\r\nETag: x\r\nConnection: close\r\n\r\n");
    socket.write(lines);
    goOn = () => void socket.write(long, () => socket.end(file));
  }, options);
  const request = "POST /calls/stream_query HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";
  const { text } = await ask(relay.port, request, (text) => {
    const isThere = (parsed(text)?.body.length ?? 0) >= 200 << 10;
    if (isThere) goOn();
    return isThere;
  }, "");
  const { body = "", headers, isWhole } = parsed(text) ?? {};
  const last = Buffer.from(enricher.enrichBody(file, { url: "/calls/stream_query" }).body);
  assert.ok(isWhole && body.startsWith(enriched.toString("latin1") + long.toString("latin1").slice(0, 1000)));
  assert.equal(body.length, enriched.length + long.length + last.length);
  assert.ok(body.endsWith(last.toString("latin1")));
  assert.equal(headers?.some((line) => /^(etag|content-length)/i.test(line)), false);
  assert.equal(await count(context, "token2text_undecoded_total", 'listener="relay weave",reason="too_large"'), 1);
  assert.equal(await count(context, "token2text_held_bytes", ""), 0);
});
