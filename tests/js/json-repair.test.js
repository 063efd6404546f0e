/** What is taken out of texts before a server gets them, beside the JavaScript engine. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { MAX_INT64, MAX_UINT64, counting, finite, repair, repairedText } from "../../pkg/exporters/json-repair.js";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** @returns {[import("../../pkg/exporters/json-repair.js").Replaced, import("../../pkg/exporters/json-repair.js").Note]} */
function counter() {
  const replaced = { characters: 0, integers: 0 };
  return [replaced, counting(replaced)];
}

test("half characters are replaced wherever they stand, whole ones are not", () => {
  const strings = ["\ud800", "\udc00", "\ud83d\ude00", "\ude00\ud83d", "\ud83d\ud83d\ude00", "a\udfffb", "\\ud800", "\\\ud800", '"\ud800"'];
  for (const string of strings) {
    const [replaced, note] = counter();
    const escaped = JSON.stringify({ [string]: [string] }).replace(/[\u{10000}-\u{10ffff}]/gu, (char) => `\\u${char.charCodeAt(0).toString(16)}\\U${char.charCodeAt(1).toString(16)}`.replace("U", "u"));
    const expected = new TextDecoder().decode(new TextEncoder().encode(string));
    assert.deepEqual(JSON.parse(repair(escaped, note, MAX_INT64)), { [expected]: [expected] });
    assert.equal(replaced.characters, 2 * [...expected].filter((char) => char === "\ufffd").length, string);
    if (expected === string) assert.equal(repair(escaped, note, MAX_INT64), escaped);
  }
});

test("bytes that are no UTF-8 become what the engine makes of them, and are counted", () => {
  const valid = [[], [0x41], [0xef, 0xbf, 0xbd], [0xf0, 0x9f, 0x98, 0x80], [0xef, 0xbb, 0xbf, 0x41]];
  const broken = [[0xff], [0xed, 0xa0, 0x80], [0xf0, 0x9f], [0xef, 0xbf], [0xc3, 0x28]];
  for (const before of valid) {
    const [replaced, note] = counter();
    assert.equal(repairedText(Uint8Array.from(before), note), decoder.decode(Uint8Array.from(before)));
    assert.equal(replaced.characters, 0);
    for (const after of broken) {
      const bytes = Uint8Array.from([...before, ...after]);
      const [[one, note], alone] = [counter(), decoder.decode(Uint8Array.from(after))];
      assert.equal(repairedText(bytes, note), decoder.decode(bytes));
      assert.equal(one.characters, alone.split("\ufffd").length - 1);
    }
  }
});

for (const [name, max] of /** @type {const} */ ([["signed", MAX_INT64], ["unsigned", MAX_UINT64]])) {
  test(`integers beyond 64 bits, ${name}, become strings, and nothing else does`, () => {
    const min = -(2n ** 63n);
    const fit = [min, max, 0n, 10n ** 18n].map(String).concat(["1e99999", "0.12345678901234567890123", "-1e-12345678901234567890123", "123456789012345678901234.5", "12345678901234567890123E2"]);
    const not = [min - 1n, max + 1n, -(10n ** 30n), 10n ** 5000n].map(String);
    for (const wrap of ["[N]", '{"a": N}', "[1,N ,2]", '{"N":"-N","x":[N]}', '["\\\\",N,"\\"N"]']) {
      for (const number of fit) {
        const [replaced, note] = counter();
        assert.equal(repair(wrap.replaceAll("N", number), note, max), wrap.replaceAll("N", number));
        assert.equal(replaced.integers, 0);
      }
      for (const number of not) {
        const [replaced, note] = counter();
        const expected = wrap.replace(/(?<=[[ ,])N/, `"${number}"`).replaceAll(/(?<!")N(?!")|(?<=["-])N/g, number);
        assert.equal(repair(wrap.replaceAll("N", number), note, max), expected);
        assert.equal(replaced.integers, 1);
      }
    }
  });
}

test("integers stay without a bound, and what is no finite number becomes what it is told to, outside of strings", () => {
  const [replaced, note] = counter();
  const large = `[${"9".repeat(40)},"\\udc00"]`;
  assert.equal(repair(large, note), large.replace("\\udc00", "\\ufffd"));
  assert.deepEqual(replaced, { characters: 1, integers: 0 });
  /** @type {string[]} */
  const names = [];
  const text = '{"NaN":[NaN,-Infinity, Infinity ,"Infinity \\"NaN"],"a":-1}';
  assert.equal(finite(text, (name) => (names.push(name), "null")), '{"NaN":[null,null, null ,"Infinity \\"NaN"],"a":-1}');
  assert.deepEqual(names, ["NaN", "-Infinity", "Infinity"]);
});
