import assert from "node:assert/strict";
import { test } from "node:test";
import type { Call } from "./calls.js";
import { callName, messageAt, newMessages, pathTo, segmentsOf, usualCall } from "./calls.js";
import { differences } from "./differences.js";
import { treeOf } from "./tree.js";
import type { RolloutDetail } from "../engine/contract.js";

const call = (facts: Partial<Call>): Call => ({ role: "turn", common: 0, continued: 0, messages: [], ...facts }) as Call;
type Spans = RolloutDetail["spans"];
const rows = (calls: Call[], spans: Spans = []) => treeOf({ rollout: { calls } as RolloutDetail["rollout"], spans });
const tree = (calls: Call[], spans?: Spans) => rows(calls, spans).map(({ call, span, depth }) => `${"-".repeat(depth)}${call ?? `t${span}`}`).join(" ");

test("a conversation is a list, parts and branches are set in", () => {
  assert.equal(tree([call({}), call({ parent: 0 }), call({ parent: 1 })]), "0 1 2");
  assert.equal(tree([call({}), call({ parent: 0 }), call({ parent: 0 }), call({ parent: 1 })]), "0 -2 1 3");
  const verl = [call({ role: "trajectory" }), call({ partOf: 0 }), call({ role: "copy", partOf: 1 }), call({ parent: 1, partOf: 0 }), call({ role: "copy", partOf: 3 })];
  assert.equal(tree(verl), "0 -1 --2 -3 --4");
});

test("tools stand between the calls, where the trace has them", () => {
  const calls = [call({ role: "trajectory" }), call({ partOf: 0 }), call({ parent: 1, partOf: 0 })];
  const span = (spanId: string, parentId: string | undefined, ...calls: number[]): Spans[number] => ({ spanId, ...(parentId && { parentId }), name: spanId, status: "ok", calls });
  const spans = [span("root", undefined), span("run", "root", 0), span("a", "run", 1), span("tool", "run"), span("b", "run", 2), span("late", "tool"), span("alone", undefined)];
  assert.equal(tree(calls, spans), "0 -1 -2 -t5 t6");
  assert.equal(tree(calls, spans.filter(({ spanId }) => spanId !== "late")), "0 -1 -t3 -2 t5");
});

test("what stands in a circle, or points nowhere, is shown too", () => {
  assert.equal(rows([call({ parent: 1 }), call({ parent: 0 }), call({ partOf: 9, parent: 7 })]).length, 3);
  assert.deepEqual(pathTo([call({ parent: 1 }), call({ parent: 0 })], 0), [1, 0]);
});

test("thousands of turns", () => {
  const calls = Array.from({ length: 20_000 }, (_, at) => call(at > 0 ? { parent: at - 1 } : {}));
  assert.equal(rows(calls).length, 20_000);
});

test("names and the usual call", () => {
  const calls = [call({ role: "trajectory" }), call({}), call({ parent: 1 }), call({ role: "copy" })];
  assert.deepEqual(calls.map((_, at) => callName(calls, at)), ["trajectory", "turn 1", "turn 2", "copy"]);
  assert.equal(usualCall(calls), 2);
  assert.equal(usualCall([call({ role: "trajectory" })]), 0);
});

test("messages of the common part are the parent's, and a mark behind them is no new message", () => {
  const message = (role: string, content: string, tokens: [number, number]) => ({ role, content, tokens, body: tokens, closed: true });
  const calls = [
    call({ messages: [message("user", "q", [0, 5]), message("assistant", "a", [5, 9])] }),
    call({ parent: 0, common: 9, continued: 9, messages: [message("assistant", "a", [5, 10]), message("tool", "t", [10, 15])] }),
  ];
  assert.deepEqual([0, 7, 12, 20].map((token) => messageAt(calls, 1, token)?.role), ["user", "assistant", "tool", undefined]);
  assert.deepEqual(newMessages(calls, 1).map(({ role }) => role), ["tool"]);
  assert.deepEqual(newMessages(calls, 0).map(({ role }) => role), ["user", "assistant"]);
});

test("segments of the common part are the parent's", () => {
  const calls = [
    call({ segments: [{ kind: "prompt", tokens: [0, 5] }, { kind: "model", tokens: [5, 9] }] }),
    call({ parent: 0, common: 9, segments: [{ kind: "inserted", tokens: [9, 12] }, { kind: "model", tokens: [12, 20] }] }),
    // It parts inside of what the model wrote.
    call({ parent: 1, common: 15, segments: [{ kind: "prompt", tokens: [15, 18] }] }),
    // A segment that begins before the common part ends stands as a whole.
    call({ parent: 0, common: 7, segments: [{ kind: "prompt", tokens: [5, 18] }] }),
  ];
  const list = (at: number) => segmentsOf(calls, at).map(({ kind, tokens }) => `${kind[0]}${tokens.join("-")}`).join(" ");
  assert.equal(list(0), "p0-5 m5-9");
  assert.equal(list(1), "p0-5 m5-9 i9-12 m12-20");
  assert.equal(list(2), "p0-5 m5-9 i9-12 m12-15 p15-18");
  assert.equal(list(3), "p0-5 p5-18");
});

test("what differs in two lists", () => {
  const marks = (one: number[], other: number[]) => {
    const found = differences(one, other);
    return [found.one, found.other].map((side) => side.map(Number).join(""));
  };
  assert.deepEqual(marks([1, 2, 3], [1, 9, 9, 3]), ["010", "0110"]);
  assert.deepEqual(marks([1, 2], [1, 2]), ["00", "00"]);
  assert.deepEqual(marks([], [5]), ["", "1"]);
  assert.deepEqual(marks([7, 1, 2, 3, 4], [8, 8, 1, 2, 3]), ["10001", "11000"]);
  assert.deepEqual(differences([7, 1, 2, 3, 4], [8, 8, 1, 2, 3], true), { one: [true, false, false, false, false], other: [true, true, false, false, false] });
  assert.deepEqual(differences([7, 7], [8], true), { one: [true, true], other: [true] });
});
