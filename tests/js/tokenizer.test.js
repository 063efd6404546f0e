import assert from "node:assert/strict";
import { test } from "node:test";
import vm from "node:vm";
import { Tokenizer, init } from "../../pkg/node.js";
import { failure } from "./support/expect.js";
import { SPECIAL, byteIds, byteLevel, jsonBytes } from "./support/tokenizers.js";

const make = () => Tokenizer.fromBytes(jsonBytes(byteLevel()));
const tokenizer = make();
const TEXT = "héllo 你好 🙂";

test("every kind of ids gives the text", () => {
  const ids = byteIds(TEXT);
  const lists = [ids, Uint32Array.from(ids), Int32Array.from(ids), Uint16Array.from(ids), Int16Array.from(ids)];
  for (const list of [...lists, Uint8Array.from(ids), Uint8ClampedArray.from(ids)]) {
    assert.equal(tokenizer.decode(list), TEXT);
  }
  assert.equal(tokenizer.decode(BigInt64Array.from(ids, BigInt)), TEXT);
  assert.equal(tokenizer.decode(BigUint64Array.from(ids, BigInt)), TEXT);
  assert.equal(tokenizer.decode(Int8Array.of(72, 105)), "Hi");
  assert.equal(tokenizer.decode([-0, 72]), "\0H");
});

test("ids of another realm are ids", () => {
  assert.equal(tokenizer.decode(vm.runInNewContext("[72, 105]")), "Hi");
  assert.equal(tokenizer.decode(vm.runInNewContext("Uint32Array.of(72, 105)")), "Hi");
});

test("a view into a larger buffer is only its own part", () => {
  const all = Uint32Array.of(65, 66, 67, 68);
  assert.equal(tokenizer.decode(all.subarray(1, 3)), "BC");
});

test("no ids give no text", () => {
  for (const none of [[], new Uint32Array(), new BigInt64Array()]) assert.equal(tokenizer.decode(none), "");
});

test("each bad id is named with its place and value", () => {
  /** @type {[any, RegExp][]} */
  const table = [
    [[1, -1], /ids\[1\] is -1;/],
    [[1.5], /ids\[0\] is 1\.5;/],
    [[0, 0, NaN], /ids\[2\] is NaN;/],
    [[Infinity], /ids\[0\] is Infinity;/],
    [[4294967296], /ids\[0\] is 4294967296;/],
    [[2 ** 53], /ids\[0\] is 9007199254740992;/],
    [["5"], /ids\[0\] is "5";/],
    [[5n], /ids\[0\] is 5n;/],
    [[null], /ids\[0\] is null;/],
    [[undefined], /ids\[0\] is undefined;/],
    [[true], /ids\[0\] is true;/],
    [[[1]], /ids\[0\] is an array;/],
    [[{}], /ids\[0\] is an object;/],
    // biome-ignore lint: the hole is the point
    [[1, , 2], /ids\[1\] is a hole;/],
    [Int32Array.of(3, -7), /ids\[1\] is -7;/],
    [Int8Array.of(-1), /ids\[0\] is -1;/],
    [BigInt64Array.of(1n, -1n), /ids\[1\] is -1n;/],
    [BigInt64Array.of(4294967296n), /ids\[0\] is 4294967296n;/],
    [BigUint64Array.of(2n ** 64n - 1n), /ids\[0\] is 18446744073709551615n;/],
  ];
  for (const [ids, words] of table) assert.throws(() => tokenizer.decode(ids), failure("invalid_ids", words));
});

test("what is not a list of ids is refused", () => {
  const others = ["abc", 5, 5n, null, undefined, {}, { length: 1, 0: 5 }, new Set([1]), new Float64Array(1), new DataView(new ArrayBuffer(8))];
  for (const ids of others) {
    assert.throws(() => tokenizer.decode(/** @type {any} */ (ids)), failure("invalid_ids", /integer typed array/));
  }
});

test("unknown ids give nothing, and all of u32 is allowed", () => {
  assert.equal(tokenizer.decode([72, 299, 4294967295, 105]), "Hi");
});

test("special tokens are kept unless they are to be skipped", () => {
  const ids = [72, SPECIAL.id, 105];
  assert.equal(tokenizer.decode(ids), "H<|end|>i");
  assert.equal(tokenizer.decode(ids, {}), "H<|end|>i");
  assert.equal(tokenizer.decode(ids, { skipSpecialTokens: false }), "H<|end|>i");
  assert.equal(tokenizer.decode(ids, { skipSpecialTokens: true }), "Hi");
});

test("wrong options are refused", () => {
  /** @type {[any, RegExp][]} */
  const table = [
    [{ skip_special_tokens: true }, /no option `skip_special_tokens`; it has `skipSpecialTokens`/],
    [{ skipSpecialTokens: 1 }, /must be true or false, not 1/],
    [true, /must be an object, not true/],
    [null, /must be an object, not null/],
    [[], /must be an object, not an array/],
  ];
  for (const [options, words] of table) assert.throws(() => tokenizer.decode([], options), failure("invalid_options", words));
});

test("decodeBatch decodes each list and names the bad one", () => {
  assert.deepEqual(tokenizer.decodeBatch([[72], [], Uint32Array.of(105)]), ["H", "", "i"]);
  assert.throws(() => tokenizer.decodeBatch([[72], [1, -1]]), failure("invalid_ids", /list 1: ids\[1\] is -1/));
  assert.throws(() => tokenizer.decodeBatch(/** @type {any} */ ([72])), failure("invalid_ids", /list 0: .* not 72/));
  assert.throws(() => tokenizer.decodeBatch(/** @type {any} */ ("abc")), failure("invalid_ids", /array of lists/));
});

test("decodeBytes keeps cut characters and is a copy", () => {
  const bytes = tokenizer.decodeBytes([0xe4, 0xbd]);
  assert.deepEqual(bytes, Uint8Array.of(0xe4, 0xbd));
  assert.equal(tokenizer.decode([0xe4, 0xbd]), "\ufffd");
  tokenizer.decode(byteIds("something else"));
  assert.deepEqual(bytes, Uint8Array.of(0xe4, 0xbd));
});

test("a leading byte order mark is text", () => {
  assert.equal(tokenizer.decode(byteIds("\ufeffx")), "\ufeffx");
});

test("tokenText gives text and bytes of one id", () => {
  assert.deepEqual(tokenizer.tokenText(256), { text: " world", bytes: new TextEncoder().encode(" world") });
  assert.deepEqual(tokenizer.tokenText(0xe4), { text: "\ufffd", bytes: Uint8Array.of(0xe4) });
  assert.deepEqual(tokenizer.tokenText(299), { text: "", bytes: new Uint8Array() });
  assert.throws(() => tokenizer.tokenText(-1), failure("invalid_ids", /-1/));
});

test("info tells the vocabulary", () => {
  const { vocabSize, decoder, specialTokens, engine, sha256 } = tokenizer.info;
  assert.equal(vocabSize, 258);
  assert.equal(decoder, "ByteLevel");
  assert.deepEqual(specialTokens, [SPECIAL]);
  assert.ok(engine === "table" || engine === "chain");
  assert.equal(sha256, undefined);
});

test("long inputs grow the memory and stay right", () => {
  const ids = new Uint32Array(3_000_000).map((_, i) => 97 + (i % 26));
  const text = tokenizer.decode(ids);
  assert.equal(text.length, ids.length);
  assert.equal(text.slice(0, 27), "abcdefghijklmnopqrstuvwxyza");
  assert.equal(tokenizer.decode([72, 105]), "Hi");
});

test("two tokenizers do not disturb each other", () => {
  const other = make();
  assert.equal(tokenizer.decode([72]), "H");
  assert.equal(other.decode([105]), "i");
  other.free();
  assert.equal(tokenizer.decode([72]), "H");
});

test("use after free says what to do, and freeing twice is fine", () => {
  const freed = make();
  freed.free();
  freed.free();
  const uses = [() => freed.decode([1]), () => freed.decodeBatch([[1]]), () => freed.decodeBytes([1]), () => freed.tokenText(1), () => freed.info];
  for (const use of uses) assert.throws(use, failure("freed", /was freed; load it again/));
});

test("Symbol.dispose frees", () => {
  const disposed = make();
  disposed[Symbol.dispose]();
  assert.throws(() => disposed.decode([1]), failure("freed", /freed/));
});

test("`new` and wrong arguments name the way", () => {
  const Public = /** @type {any} */ (Tokenizer);
  assert.throws(() => new Public(), failure("invalid_options", /await Tokenizer\.load/));
  for (const value of ["text", 5, null, undefined, {}, []]) {
    assert.throws(() => Public.fromBytes(value), failure("invalid_options", /takes bytes/));
  }
  assert.throws(() => Public.fromBytes(jsonBytes(byteLevel()), { hash: "" }), failure("invalid_options", /no option `hash`/));
});

test("broken files are refused", () => {
  const bytes = jsonBytes(byteLevel());
  assert.throws(() => Tokenizer.fromBytes(new Uint8Array()), failure("invalid_tokenizer", /./));
  assert.throws(() => Tokenizer.fromBytes(bytes.subarray(0, bytes.length - 5)), failure("invalid_tokenizer", /./));
  assert.throws(() => Tokenizer.fromBytes(Uint8Array.of(0x1f, 0x8b, 8, 0)), failure("compressed_input", /./));
  assert.throws(
    () => Tokenizer.fromBytes(bytes, /** @type {any} */ ({ compat: "transformers9" })),
    failure("invalid_options", /transformers9|compat/),
  );
});

test("init is there in Node too", async () => {
  assert.equal(await init(), undefined);
});
