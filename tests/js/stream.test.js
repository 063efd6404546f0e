import assert from "node:assert/strict";
import { test } from "node:test";
import { Tokenizer } from "../../pkg/node.js";
import { TextStream } from "../../pkg/stream.js";
import { failure } from "./support/expect.js";
import { SPECIAL, byteIds, byteLevel, jsonBytes } from "./support/tokenizers.js";

const make = () => Tokenizer.fromBytes(jsonBytes(byteLevel()));
const tokenizer = make();
const TEXT = "aé日🙂 z";

test("text comes as soon as it is settled", () => {
  const stream = tokenizer.stream();
  const texts = byteIds(TEXT).map((id) => stream.push(id));
  assert.deepEqual(texts, ["a", "", "é", "", "", "日", "", "", "", "🙂", " ", "z"]);
  assert.equal(stream.push([256, 0xf0, 0x9f]), " world");
  assert.equal(stream.push(Uint32Array.of()), "");
  assert.equal(stream.finish(), "\ufffd");
});

test("every split gives the same text", () => {
  const ids = [...byteIds(TEXT), SPECIAL.id, 0x99, 299, 0xf0, ...byteIds(TEXT)];
  for (const skipSpecialTokens of [false, true]) {
    const text = tokenizer.decode(ids, { skipSpecialTokens });
    for (let first = 0; first <= ids.length; first++) {
      const stream = tokenizer.stream({ skipSpecialTokens });
      assert.equal(stream.push(ids.slice(0, first)) + stream.push(BigInt64Array.from(ids.slice(first), BigInt)) + stream.finish(), text);
    }
  }
});

test("a leading byte order mark is text", () => {
  const stream = tokenizer.stream();
  assert.equal(stream.push(byteIds("\ufeffx")), "\ufeffx");
  stream.free();
});

test("streams do not disturb each other, and outlive their tokenizer", () => {
  const freed = make();
  const [a, b] = [freed.stream(), freed.stream()];
  assert.equal(a.push(0xe6), "");
  freed.free();
  assert.equal(b.push(byteIds("日")), "日");
  assert.equal(a.push([0x97, 0xa5]), "日");
  assert.equal(a.finish() + b.finish(), "");
});

test("a bad id changes nothing", () => {
  const stream = tokenizer.stream();
  assert.equal(stream.push(0xe6), "");
  assert.throws(() => stream.push([0x97, -1]), failure("invalid_ids", /ids\[1\] is -1/));
  assert.throws(() => stream.push(1.5), failure("invalid_ids", /1\.5/));
  assert.throws(() => stream.push(/** @type {any} */ ("1")), failure("invalid_ids", /integer typed array/));
  assert.throws(() => stream.push(new Uint32Array((16 << 20) + 1)), failure("limit_exceeded", /16 Mi ids/));
  assert.equal(stream.push([0x97, 0xa5]) + stream.finish(), "日");
});

test("a text that would grow too long in the end is refused before", () => {
  const replace = { type: "Replace", pattern: { String: "a" }, content: "x".repeat(1 << 20) };
  const decoder = { type: "Sequence", decoders: [{ type: "Fuse" }, replace] };
  const stream = Tokenizer.fromBytes(jsonBytes({ added_tokens: [], decoder, model: { type: "BPE", merges: [], vocab: { a: 0 } } })).stream();
  let count = 0;
  const push = () => {
    for (; count < 300; count++) stream.push(0);
  };
  assert.throws(push, failure("limit_exceeded", /256 MiB/));
  assert.ok(count >= 100, `${count}`);
  assert.equal(stream.finish().length, count << 20);
});

test("after its end a stream says what to do", () => {
  const finished = tokenizer.stream();
  finished.finish();
  finished.free();
  const freed = tokenizer.stream();
  freed.free();
  for (const stream of [finished, freed]) {
    assert.throws(() => stream.push(72), failure("freed", /finished or freed; make another with `tokenizer\.stream/));
    assert.throws(() => stream.finish(), failure("freed", /finished or freed/));
  }
  const disposed = tokenizer.stream();
  disposed[Symbol.dispose]();
  assert.throws(() => disposed.push(72), failure("freed", /finished or freed/));
});

test("wrong options and `new` are refused", () => {
  assert.throws(() => tokenizer.stream(/** @type {any} */ ({ skip: 1 })), failure("invalid_options", /stream has no option `skip`/));
  assert.throws(() => new TextStream(/** @type {any} */ (undefined)), failure("invalid_options", /tokenizer\.stream/));
});
