import assert from "node:assert/strict";
import { test } from "node:test";
import type { Row } from "../engine/contract.js";
import { Pace } from "../pace.js";
import { areSiblings, arrange } from "./arrange.js";
import { COLUMNS, ListFacts } from "./columns.js";
import { EVERYTHING, matcher, type Filter } from "./filter.js";
import { sortByValue } from "./radix.js";

const row = (at: number, facts: Partial<Row>): Row => ({ at, key: `k${at}`, source: "a.jsonl", turns: 1, tokens: 10, ...facts });
const column = (id: string) => COLUMNS.find((one) => one.id === id)!;
const never = new AbortController().signal;
const lines = async (rows: Row[], options: { filter?: Partial<Filter>; sort?: [string, boolean]; isGrouped?: boolean }) => {
  const sort = options.sort && { column: column(options.sort[0]), descending: options.sort[1] };
  const arrangement = await arrange(rows, { filter: { ...EVERYTHING, ...options.filter }, sort, isGrouped: options.isGrouped ?? false }, never);
  return { ...arrangement!, lines: [...arrangement!.lines] };
};

test("numbers are sorted as comparing sorts them, equal ones stay, and none come last both ways", async () => {
  const values = Float64Array.from([3, -1, NaN, 0, -0, 1e300, -1e300, 5e-324, -5e-324, Infinity, -Infinity, 3, 2 ** 53 + 2, 0.1, NaN, -0.1]);
  let seed = 1;
  const random = Float64Array.from({ length: 5000 }, () => ((seed = (seed * 48271) % 2147483647) % 1000) / 7 - 60);
  for (const list of [values, random]) {
    const order = Uint32Array.from(list.keys());
    for (const descending of [false, true]) {
      const compare = (a: number, b: number) => {
        const [x, y] = [list[a]!, list[b]!];
        if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
        return x === y ? 0 : (x < y ? -1 : 1) * (descending ? -1 : 1);
      };
      assert.deepEqual([...(await sortByValue(order, list, descending, new Pace()))], [...order].sort(compare));
    }
  }
  assert.deepEqual([...(await sortByValue(new Uint32Array(), new Float64Array(), false, new Pace()))], []);
});

test("texts are sorted with their numbers as numbers, many of them by their letters", async () => {
  const few = ["run-10", "run-9", undefined, "run-1"].map((model, at) => row(at, { model }));
  assert.deepEqual((await lines(few, { sort: ["model", false] })).lines, [3, 1, 0, 2]);
  assert.deepEqual((await lines(few, { sort: ["model", true] })).lines, [0, 1, 3, 2]);
  const many = Array.from({ length: 7001 }, (_, at) => row(at, { traceId: ((at * 7919) % 7001).toString(16).padStart(4, "0") }));
  const sorted = (await lines(many, { sort: ["id", false] })).lines;
  assert.deepEqual(sorted.map((at) => many[at]!.traceId), many.map(({ traceId }) => traceId).sort());
});

test("rollouts of a sample stand together, those of another step or of a validation apart", async () => {
  const rows = [
    row(0, { step: 2, sampleIndex: 1, rolloutN: 1, reward: 1 }),
    row(1, { step: 1, sampleIndex: 1, rolloutN: 0 }),
    row(2, { step: 2, sampleIndex: 1, rolloutN: 0, reward: 0 }),
    row(3, { step: 2, sampleIndex: 0, rolloutN: 0 }),
    row(4, { step: 2, sampleIndex: 1, rolloutN: 0, validate: true }),
  ];
  const grouped = await lines(rows, { isGrouped: true });
  assert.deepEqual(grouped.lines, [-1, 1, -2, 3, -3, 2, 0, -4, 4]);
  assert.deepEqual(grouped.groups[2], { first: 2, count: 2, reward: { mean: 0.5, deviation: 0.5 } });
  assert.equal(grouped.shown, 5);
  assert.ok(areSiblings(rows[0]!, rows[2]!) && !areSiblings(rows[0]!, rows[4]!) && !areSiblings(rows[0]!, rows[1]!));
  // Within a sample they are sorted as the list is.
  assert.deepEqual((await lines(rows, { isGrouped: true, sort: ["reward", true] })).lines, [-1, 1, -2, 3, -3, 0, 2, -4, 4]);
});

test("a filter lets through what fits all of it", () => {
  const rows = [
    row(0, { step: 41, reward: 1, model: "Qwen/Qwen3-8B", findings: { info: 1, warning: 0, error: 0 } }),
    row(1, { step: 42, reward: -1, validate: true, findings: { info: 0, warning: 0, error: 2 } }),
    row(2, { requestId: "edge-nan" }),
  ];
  const fitting = (filter: Partial<Filter>) => {
    const matches = matcher({ ...EVERYTHING, ...filter });
    return rows.filter((one) => !matches || matches(one)).map(({ at }) => at);
  };
  assert.deepEqual(fitting({}), [0, 1, 2]);
  assert.deepEqual(fitting({ text: "QWEN3 step" }), [0]);
  assert.deepEqual(fitting({ text: "edge" }), [2]);
  assert.deepEqual(fitting({ text: "step 41" }), [0]);
  assert.deepEqual(fitting({ text: "step:4" }), []);
  assert.deepEqual(fitting({ text: "turns 1 step=42 validate" }), [1]);
  assert.deepEqual(fitting({ step: "41-42" }), [0, 1]);
  assert.deepEqual(fitting({ step: "42" }), [1]);
  assert.deepEqual(fitting({ rewardFrom: 0 }), [0]);
  assert.deepEqual(fitting({ rewardTo: 0 }), [1]);
  assert.deepEqual(fitting({ validate: false }), [0, 2]);
  assert.deepEqual(fitting({ findings: "info" }), [0, 1]);
  assert.deepEqual(fitting({ findings: "error" }), [1]);
  assert.equal(matcher(EVERYTHING), undefined);
});

test("columns are there when they say something", () => {
  const ids = (rows: Row[]) => {
    const facts = new ListFacts();
    facts.add(rows);
    return facts.columns().map(({ id }) => id);
  };
  assert.deepEqual(ids([row(0, { step: 1, model: "a" }), row(1, { step: 1, model: "a" })]), ["step", "turns", "tokens"]);
  assert.deepEqual(ids([row(0, { step: 1, model: "a" }), row(1, { step: 1, model: "b" })]), ["step", "turns", "tokens", "model"]);
  assert.deepEqual(ids([row(0, { traceId: "t" })]), ["turns", "tokens", "id"]);
});
