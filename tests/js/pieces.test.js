import assert from "node:assert/strict";
import { after, test } from "node:test";
import { PieceFlag, Tokenizer } from "../../pkg/node.js";
import * as worker from "../../pkg/worker-node.js";
import { failure } from "./support/expect.js";
import { SPECIAL, byteIds, byteLevel, jsonBytes, needsGeneral } from "./support/tokenizers.js";

const plain = jsonBytes(byteLevel());
const tokenizer = Tokenizer.fromBytes(plain);
const TEXT = "aé日🙂 z";
const NONE = 299;

after(() => worker.terminate());

/** The part of each token. @param {{ text: string, ends: Uint32Array }} pieces */
const parts = ({ text, ends }) => Array.from(ends, (end, i) => text.slice(ends[i - 1] ?? 0, end));

test("each token has its part, as JavaScript counts", () => {
  const pieces = tokenizer.pieces([...byteIds(TEXT), 256]);
  assert.equal(pieces.text, `${TEXT} world`);
  assert.deepEqual(parts(pieces), ["a", "é", "", "日", "", "", "🙂", "", "", "", " ", "z", " world"]);
  const { continues } = PieceFlag;
  const flags = [0, 0, continues, 0, continues, continues, 0, continues, continues, continues, 0, 0, 0];
  assert.deepEqual(pieces.flags, Uint8Array.from(flags));
  assert.ok(pieces.ends instanceof Uint32Array && pieces.ends.buffer.byteLength === 4 * flags.length);
});

test("ASCII needs no counting, and no ids give nothing", () => {
  assert.deepEqual(tokenizer.pieces([72, 105]), { text: "Hi", ends: Uint32Array.of(1, 2), flags: new Uint8Array(2) });
  assert.deepEqual(tokenizer.pieces([]), { text: "", ends: new Uint32Array(), flags: new Uint8Array() });
});

test("unknown ids and special tokens are marked", () => {
  const ids = [72, NONE, SPECIAL.id, 0xe6, 105];
  const flags = Uint8Array.of(0, PieceFlag.unknown, PieceFlag.special, 0, 0);
  const kept = tokenizer.pieces(BigInt64Array.from(ids, BigInt));
  assert.deepEqual([parts(kept), kept.flags], [["H", "", SPECIAL.content, "\ufffd", "i"], flags]);
  const skipped = tokenizer.pieces(ids, { skipSpecialTokens: true });
  assert.deepEqual([parts(skipped), skipped.flags], [["H", "", "", "\ufffd", "i"], flags]);
});

test("the pieces of random ids are the text, cut between characters", () => {
  let state = 1;
  const random = (/** @type {number} */ below) => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) % below;
  const bytes = byteIds(TEXT.repeat(3));
  for (let round = 0; round < 500; round++) {
    const ids = Array.from({ length: random(40) }, () => (random(3) ? bytes[random(bytes.length)] : random(300)));
    const { text, ends } = tokenizer.pieces(ids);
    assert.equal(text, tokenizer.decode(ids));
    assert.equal(ends.at(-1) ?? 0, text.length);
    for (const end of ends) {
      const cuts = /[\udc00-\udfff]/.test(text[end] ?? "") && /[\ud800-\udbff]/.test(text[end - 1] ?? "");
      assert.ok(!cuts, `${ids}: ${ends}`);
    }
  }
});

test("a tokenizer of the general engine has pieces and streams too", () => {
  const general = Tokenizer.fromBytes(jsonBytes(needsGeneral()));
  assert.deepEqual(parts(general.pieces([0, 1, 3])), ["a", " ", "b"]);
  const stream = general.stream();
  assert.equal(stream.push([0, 1, 3]) + stream.finish(), "a b");
});

test("bad ids, wrong options and a freed tokenizer are refused", () => {
  assert.throws(() => tokenizer.pieces([1, -1]), failure("invalid_ids", /ids\[1\] is -1/));
  assert.throws(() => tokenizer.pieces(/** @type {any} */ ("abc")), failure("invalid_ids", /integer typed array/));
  assert.throws(() => tokenizer.pieces([], /** @type {any} */ ({ skip: true })), failure("invalid_options", /pieces has no option `skip`/));
  assert.throws(() => tokenizer.pieces(new Uint32Array((16 << 20) + 1)), failure("limit_exceeded", /16 Mi ids/));
  const freed = Tokenizer.fromBytes(plain);
  freed.free();
  assert.throws(() => freed.pieces([1]), failure("freed", /was freed/));
  assert.throws(() => freed.stream(), failure("freed", /was freed/));
});

test("the worker has pieces", async () => {
  const there = await worker.Tokenizer.load(plain);
  const ids = [...byteIds(TEXT), NONE];
  assert.deepEqual(await there.pieces(ids), tokenizer.pieces(ids));
  assert.deepEqual(await there.pieces(Uint32Array.of(SPECIAL.id), { skipSpecialTokens: true }), {
    text: "",
    ends: Uint32Array.of(0),
    flags: Uint8Array.of(worker.PieceFlag.special),
  });
  await assert.rejects(there.pieces([0.5]), failure("invalid_ids", /0\.5/));
});
