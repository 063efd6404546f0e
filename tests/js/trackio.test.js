/** What the exporter for Trackio does to JSON text, beside the JavaScript engine; the rest is in tests/integration. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { repair, repairedText } from "../../pkg/exporters/json-repair.js";
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

test("half characters are replaced wherever they stand, whole ones are not", () => {
  const strings = ["\ud800", "\udc00", "\ud83d\ude00", "\ude00\ud83d", "\ud83d\ud83d\ude00", "a\udfffb", "\\ud800", "\\\ud800", '"\ud800"'];
  for (const string of strings) {
    const replaced = { characters: 0, integers: 0 };
    const escaped = JSON.stringify({ [string]: [string] }).replace(/[\u{10000}-\u{10ffff}]/gu, (char) => `\\u${char.charCodeAt(0).toString(16)}\\U${char.charCodeAt(1).toString(16)}`.replace("U", "u"));
    const expected = new TextDecoder().decode(new TextEncoder().encode(string));
    assert.deepEqual(JSON.parse(repair(escaped, replaced)), { [expected]: [expected] });
    assert.equal(replaced.characters, 2 * [...expected].filter((char) => char === "\ufffd").length, string);
    if (expected === string) assert.equal(repair(escaped, replaced), escaped);
  }
});

test("bytes that are no UTF-8 become what the engine makes of them, and are counted", () => {
  const valid = [[], [0x41], [0xef, 0xbf, 0xbd], [0xf0, 0x9f, 0x98, 0x80], [0xef, 0xbb, 0xbf, 0x41]];
  const broken = [[0xff], [0xed, 0xa0, 0x80], [0xf0, 0x9f], [0xef, 0xbf], [0xc3, 0x28]];
  for (const before of valid) {
    const replaced = { characters: 0, integers: 0 };
    assert.equal(repairedText(Uint8Array.from(before), replaced), new TextDecoder().decode(Uint8Array.from(before)));
    assert.equal(replaced.characters, 0);
    for (const after of broken) {
      const bytes = Uint8Array.from([...before, ...after]);
      const [one, alone] = [{ characters: 0, integers: 0 }, new TextDecoder().decode(Uint8Array.from(after))];
      assert.equal(repairedText(bytes, one), new TextDecoder().decode(bytes));
      assert.equal(one.characters, alone.split("\ufffd").length - 1);
    }
  }
});

test("integers beyond 64 bits become strings, and nothing else does", () => {
  const [min, max] = [-(2n ** 63n), 2n ** 64n - 1n];
  const fit = [min, max, 0n, 10n ** 18n].map(String).concat(["1e99999", "0.12345678901234567890123", "-1e-12345678901234567890123", "123456789012345678901234.5", "12345678901234567890123E2"]);
  const not = [min - 1n, max + 1n, -(10n ** 30n), 10n ** 5000n].map(String);
  for (const wrap of ["[N]", '{"a": N}', "[1,N ,2]", '{"N":"-N","x":[N]}', '["\\\\",N,"\\"N"]']) {
    for (const number of fit) assert.equal(repair(wrap.replaceAll("N", number), { characters: 0, integers: 0 }), wrap.replaceAll("N", number));
    for (const number of not) {
      const replaced = { characters: 0, integers: 0 };
      const expected = wrap.replace(/(?<=[[ ,])N/, `"${number}"`).replaceAll(/(?<!")N(?!")|(?<=["-])N/g, number);
      assert.equal(repair(wrap.replaceAll("N", number), replaced), expected);
      assert.equal(replaced.integers, 1);
    }
  }
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
