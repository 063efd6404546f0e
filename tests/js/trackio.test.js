/** What the exporter for Trackio takes out of JSON text, beside the JavaScript engine; the rest is in tests/integration. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { elements, memberText, members } from "../../pkg/exporters/json-text.js";
import { sha256 } from "../../pkg/exporters/sha256.js";
import { metricKey } from "../../pkg/exporters/trackio-names.js";
import { failure } from "./support/expect.js";

/** @type {any[]} */
const VALUES = [0, -1.5e-9, "", 'a"\\"b', "\\", "\\\\", '\\"', "\u0000\n\u2028é😀", "{[]}", [], {}, [[], {}], { "": 1 }, { a: { b: [1, "]"] } }, null, true, "\ud800", { "k\"\\": [1] }];

test("members and elements are where the engine sees them", () => {
  for (const space of ["", " ", "\t\r\n  "]) {
    for (const indent of [0, 2]) {
      const list = `${space}${JSON.stringify(VALUES, null, indent)}${space}`;
      const found = elements(list).map(({ start, end }) => JSON.parse(list.slice(start, end)));
      assert.deepEqual(found, VALUES);
      const object = Object.fromEntries(VALUES.map((value, i) => [`${JSON.stringify(value)}${i}`, value]));
      const text = `${space}${JSON.stringify(object, null, indent)}${space}`;
      const parts = members(text);
      assert.deepEqual([...parts.keys()].sort(), Object.keys(object).sort());
      for (const [key, value] of Object.entries(object)) assert.deepEqual(JSON.parse(memberText(text, parts, key) ?? ""), value);
    }
  }
});

test("parts keep the spelling, and of two members the last counts", () => {
  const text = '{"a":1.0,"n" : NaN ,"b":[ -Infinity, 1E+2],"a":18446744073709551616}';
  const parts = members(text);
  assert.equal(memberText(text, parts, "a"), "18446744073709551616");
  assert.equal(memberText(text, parts, "n"), "NaN");
  assert.deepEqual(elements(text, parts.get("b")?.start).map(({ start, end }) => text.slice(start, end)), ["-Infinity", "1E+2"]);
  assert.equal(memberText(text, parts, "c"), undefined);
});

test("text that is cut or no JSON is told", () => {
  const text = '{"a":[1,{"b":"x\\"y"}],"c":2}';
  for (let end = 0; end < text.length; end++) assert.throws(() => members(text.slice(0, end)), failure("invalid_body", /no JSON/), text.slice(0, end));
  for (const wrong of ['{"a" 1}', "{a:1}", '{"a":}', '{"a":1 "b":2}', '{"a":1,}', "[1]", '"a"', "1", '{"\\x":1}']) {
    assert.throws(() => members(wrong), failure("invalid_body", /./), wrong);
  }
  for (const wrong of ["{}", "[1 2]", "[1,]", "[,]"]) assert.throws(() => elements(wrong), failure("invalid_body", /no JSON/), wrong);
});

test("SHA-256 is that of Node", () => {
  for (let length = 0; length < 200; length++) {
    const text = "é".repeat(length >> 1) + "x".repeat(length % 2);
    assert.equal(sha256(text), createHash("sha256").update(text).digest("hex"));
  }
});

test("keys of Trackio's own are renamed as its client renames them", () => {
  const keys = ["project", "run", "timestamp", "step", "time", "metrics", "__x", "_x", "loss", "steps"];
  assert.deepEqual(keys.map(metricKey), ["__project", "__run", "__timestamp", "__step", "__time", "__metrics", "____x", "_x", "loss", "steps"]);
});
