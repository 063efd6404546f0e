import assert from "node:assert/strict";
import { test } from "node:test";
import { PieceFlag } from "token2text";
import type { CallTokens, Hit, Segment } from "../engine/contract.js";
import { above, hitsWithin, rangeAt } from "./ranges.js";
import { buildRows, likelyHeights, repeatedRuns, rowOf, RowKind, tokensOf } from "./rows.js";
import { countBeyond, nextBeyond, numberText, quantiles, scaleOf, stepOf, STEPS } from "./scale.js";
import { Flag, hex, TokenText } from "./token-text.js";

/** A call whose tokens have these texts. */
function call(parts: string[]): CallTokens {
  const lines = [0];
  let end = 0;
  const ends = parts.map((part, at) => {
    if (part.endsWith("\n") && at + 1 < parts.length) lines.push(at + 1);
    return (end += part.length);
  });
  const ids = Uint32Array.from(parts, (part) => part.length + 100 * part.charCodeAt(0));
  return { call: 0, ids, text: parts.join(""), ends: Uint32Array.from(ends), flags: new Uint8Array(parts.length), lines: Uint32Array.from(lines), numbers: [] };
}
const folded = { width: 4, characters: 20, common: 0, open: new Set<number>() };

test("flags are those of the package", () => assert.deepEqual({ ...Flag }, { ...PieceFlag }));

test("places in sorted lists", () => {
  const list = Uint32Array.from([2, 2, 5]);
  assert.deepEqual([1, 2, 4, 5, 9].map((value) => above(list, value)), [0, 2, 2, 3, 3]);
  const segments: Segment[] = [{ kind: "prompt", tokens: [0, 3] }, { kind: "model", tokens: [3, 7] }];
  assert.deepEqual([0, 2, 3, 6, 7].map((token) => rangeAt(segments, token)?.kind), ["prompt", "prompt", "model", "model", undefined]);
  const hits: Hit[] = ([[1, 3], [2, 9], [5, 6], [20, 21]] as [number, number][]).map((tokens) => ({ rollout: 0, call: 0, tokens }));
  assert.deepEqual(hitsWithin(hits, 5, 20, 7).map((hit) => hit.tokens[0]), [2, 5]);
  assert.deepEqual(hitsWithin(hits, 9, 20, 7), []);
});

test("the text of a token, and the token of a character", () => {
  const text = new TokenText(call(["ab", "", "c\n", "d"]));
  assert.deepEqual([0, 1, 2, 3].map((token) => text.text(token)), ["ab", "", "c\n", "d"]);
  assert.equal(text.text(1, 4), "c\nd");
  assert.deepEqual([0, 1, 2, 3, 4, 9].map((offset) => text.at(offset)), [0, 0, 2, 2, 3, 3]);
  assert.equal(hex(Uint8Array.of(0, 226, 16)), "00 e2 10");
});

test("rows are lines, cut where they are long", () => {
  const tokens = call(["a", "b\n", "c", "d", "e", "f", "g", "h".repeat(30), "i".repeat(15), "j".repeat(15)]);
  const rows = buildRows(tokens, [], folded);
  assert.deepEqual([...rows.starts], [0, 2, 6, 7, 8, 9]);
  for (let token = 0; token < 10; token++) {
    const [start, end] = tokensOf(rows, rowOf(rows, token));
    assert.ok(start <= token && token < end);
  }
  assert.equal(buildRows(call([]), [], folded).starts.length, 0);
});

test("what is common and runs of one token are rows of their own", () => {
  const tokens = call(["p", "q\n", "<", ...Array(10).fill("x"), ">", "y", "y", "z"]);
  const segments: Segment[] = [{ kind: "prompt", tokens: [0, 3] }, { kind: "placeholder", tokens: [3, 16] }];
  const runs = repeatedRuns(tokens.ids, segments);
  assert.deepEqual(runs, [[3, 13]]);
  const rows = buildRows(tokens, runs, { ...folded, common: 2 });
  assert.deepEqual([...rows.starts], [0, 2, 3, 13]);
  assert.deepEqual([...rows.kinds], [RowKind.common, RowKind.tokens, RowKind.run, RowKind.tokens]);
  assert.deepEqual([...buildRows(tokens, runs, { ...folded, open: new Set([3]) }).starts], [0, 2, 3, 7, 11, 15]);
  // Common up to the middle of a run.
  assert.deepEqual([...buildRows(tokens, runs, { ...folded, common: 5 }).starts], [0, 5, 13]);
  // All is common.
  assert.deepEqual([...buildRows(tokens, runs, { ...folded, common: 17 }).starts], [0]);
});

test("every token of many is in one row, and rows follow one another", () => {
  const tokens = call(Array.from({ length: 5000 }, (_, at) => (at % 7 === 0 ? "\n" : "word".slice(0, 1 + (at % 4)))));
  const rows = buildRows(tokens, [[100, 300], [300, 420]], { width: 5, characters: 12, common: 33, open: new Set([300]) });
  let next = 0;
  for (let row = 0; row < rows.starts.length; row++) {
    const [start, end] = tokensOf(rows, row);
    assert.equal(start, next);
    assert.ok(end > start);
    next = end;
  }
  assert.equal(next, 5000);
});

test("rows are as high as their text is long", () => {
  const tokens = call(["a\n", "b\n\n", "c".repeat(250), "\n"]);
  const rows = buildRows(tokens, [], { ...folded, width: 50, characters: 300 });
  assert.deepEqual([...likelyHeights(rows, tokens, 884)], [21, 40, 2 + 19 * 3]);
});

test("quantiles leave out what is no number", () => {
  assert.deepEqual(quantiles(Float32Array.of(NaN, 4, 1, 3, 2, Infinity), [0, 0.5, 1]), [1, 3, 4]);
  assert.ok(Number.isNaN(quantiles(Float32Array.of(NaN), [0.5])[0]));
  const many = Float32Array.from({ length: 1_000_000 }, (_, at) => at);
  assert.ok(Math.abs(quantiles(many, [0.5])[0]! - 500_000) < 1000);
  const rare = new Float32Array(1_000_000).fill(NaN);
  rare[777_777] = 5;
  assert.deepEqual(quantiles(rare, [0.5]), [5]);
});

test("scales", () => {
  const logprobs = scaleOf("logprobs", Float32Array.of(-8, -1, -0.5, 0, NaN))!;
  assert.deepEqual([logprobs.kind, logprobs.notable, logprobs.count, logprobs.least], ["sequential", "low", 4, -8]);
  assert.deepEqual([0, -8, -100, NaN].map((value) => stepOf(logprobs, value)), [0, STEPS - 1, STEPS - 1, -1]);
  const advantages = scaleOf("advantages", Float32Array.of(-2, 0, 4))!;
  assert.deepEqual([advantages.kind, advantages.low, advantages.high], ["diverging", -4, 4]);
  assert.deepEqual([-9, 0, 4].map((value) => stepOf(advantages, value)), [0, (STEPS - 1) / 2, STEPS - 1]);
  assert.equal(scaleOf("entropys", Float32Array.of(NaN)), undefined);
  const same = scaleOf("entropys", Float32Array.of(2, 2))!;
  assert.equal(stepOf(same, 2), (STEPS - 1) / 2);
});

test("thresholds count, and lead from one token to the next", () => {
  const values = Float32Array.of(-5, NaN, -1, -6, 0);
  const low = { side: "below", value: -4 } as const;
  assert.equal(countBeyond(low, values), 2);
  assert.equal(countBeyond({ side: "above", value: -2 }, values), 2);
  assert.deepEqual([0, 3, -1].map((from) => nextBeyond(low, values, from)), [3, 0, 0]);
  assert.equal(nextBeyond(low, values, 3, -1), 0);
  assert.equal(nextBeyond({ side: "below", value: -9 }, values, 0), -1);
});

test("numbers keep what tells them apart", () => {
  assert.deepEqual([-0.0321, 12.345, 0, 1e-5, 250.25].map(numberText), ["−0.032", "12.35", "0", "1.00e-5", "250.3"]);
});
