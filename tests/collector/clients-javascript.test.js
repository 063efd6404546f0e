/** Clients in JavaScript through the relay: Weave's, whose calls come in halves, and OpenTelemetry's, in both encodings. */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { test } from "node:test";
import { rotelServer } from "../integration/support/rotel.js";
import { SETTINGS, client, javascript } from "./support/clients.js";
import { ANSWER, PROMPT } from "./support/decoded.js";
import { comparable, noTexts, textsIn } from "./support/records.js";
import { startRelayed } from "./support/relayed.js";
import { withServers } from "./support/servers.js";
import { weaveServer } from "../integration/support/weave.js";

const IDS = [PROMPT.ids, ANSWER.ids].map((ids) => JSON.stringify(ids));
const { weave, rotel } = withServers({ weave: weaveServer(), rotel: rotelServer() });

test("Weave's client: halves of calls", async () => {
  const relayed = await startRelayed("weave", weave.url);
  try {
    await Promise.all([
      javascript("weave.js", ["team/through", ...IDS], SETTINGS.weave(relayed.url)),
      javascript("weave.js", ["team/direct", ...IDS], SETTINGS.weave(weave.url)),
    ]);
    assert.ok(relayed.changed(({ path }) => path === "/call/upsert_batch").length > 0);
  } finally {
    await relayed.close();
  }
  const [through, direct] = await client(SETTINGS.weave(weave.url), "read_weave", "team/through", "team/direct");
  assert.deepEqual(textsIn(through).flatMap(({ texts }) => texts), [PROMPT.text, ANSWER.text]);
  assert.deepEqual(comparable(through, noTexts), comparable(direct, noTexts));
});

for (const [encoding, type] of [["proto", "application/x-protobuf"], ["http", "application/json"]]) {
  test(`OpenTelemetry's SDK: ${type} in gzip, into rotel`, async () => {
    const relayed = await startRelayed("otlp", rotel.url);
    try {
      await javascript("otlp.js", [encoding, ...IDS], SETTINGS.otlp(relayed.url));
      const [{ before, behind }] = relayed.changed(({ path }) => path === "/v1/traces");
      const header = (/** @type {string[]} */ headers, /** @type {string} */ name) => headers[headers.findIndex((other) => other.toLowerCase() === name) + 1];
      assert.equal(header(behind.headers, "content-type"), type);
      assert.equal(header(behind.headers, "content-encoding"), "gzip");
      for (const { text } of [PROMPT, ANSWER]) {
        const written = type === "application/json" ? JSON.stringify(text) : text;
        assert.deepEqual([gunzipSync(before.body).includes(written), gunzipSync(behind.body).includes(written)], [false, true]);
      }
      for (const line of [`Name           : generate-${encoding}`, `-> token2text.response_text: Str(${ANSWER.text})`, "-> temperature: Double(0.5)"]) {
        assert.ok(rotel.log().includes(line), rotel.log());
      }
    } finally {
      await relayed.close();
    }
  });
}
