/** Traces of a store, wherever its index of them is: not begun, in the middle of a segment, whole, pruned, or from an older version. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bytesField } from "../../collector/src/enrichment/sampling/proto-wire.js";
import { list } from "../../collector/src/forwarding/dead-letters.js";
import { Keeper } from "../../collector/src/store/keeper.js";
import { MIGRATIONS } from "../../collector/src/store/migrations.js";
import { openBeside, openKept } from "../../collector/src/store/open.js";
import { packed, unpacked } from "../../collector/src/store/packed-ids.js";
import { Tables } from "../../collector/src/store/tables.js";
import { entriesOf } from "../../collector/src/store/trace-blocks.js";
import { Traces } from "../../collector/src/store/traces.js";
import { freshFolder } from "./support/folders.js";

/** @typedef {import("better-sqlite3").Database} Database */
/** Which bodies have spans of a trace, by its id in hexadecimal; how many bytes they have. @typedef {{ traces: Map<string, number[]>, bytes: Map<number, number> }} Expected */

const PROTOBUF = "application/x-protobuf";
const MIB = 1 << 20;
const folder = freshFolder();
let files = 0;
const freshFile = () => join(folder, `${++files}.db`);

/** As many bytes as ids have, and some that none should have: a zero is in most of them. */
const LENGTHS = [16, 16, 16, 16, 0, 1, 3, 200];
/** Some ids come again and again. */
const POOL = Array.from({ length: 1500 }, (_, i) => Buffer.concat([randomBytes(Math.max(0, LENGTHS[i % LENGTHS.length] - 1)), Buffer.alloc(Math.min(1, LENGTHS[i % LENGTHS.length]))]));
/** Ids of a body, each once. @param {number} count */
const someIds = (count) => {
  const ids = Array.from({ length: count }, (_, i) => (i % 3 === 0 ? POOL[Math.floor(Math.random() * POOL.length)] : randomBytes(16)));
  return [...new Map(ids.map((id) => [id.toString("hex"), id])).values()];
};
/** A request with a span of each. @param {Buffer[]} ids */
const bodyOf = (ids) => {
  const spans = ids.flatMap((id) => bytesField(2, Buffer.concat(bytesField(1, id))));
  return Buffer.concat(bytesField(1, Buffer.concat(bytesField(2, Buffer.concat(spans)))));
};

/** @returns {Expected} */
const nothing = () => ({ traces: new Map(), bytes: new Map() });
/** @param {Expected} expected @param {number} id @param {Buffer[]} ids @param {number} bytes */
function expect({ traces, bytes: sizes }, id, ids, bytes) {
  sizes.set(id, bytes);
  for (const trace of ids) traces.set(trace.toString("hex"), [...(traces.get(trace.toString("hex")) ?? []), id]);
}

/** @param {Keeper} keeper @param {Expected} expected @param {number} [count] Of ids. */
function add(keeper, expected, count = 700) {
  const ids = someIds(count);
  const body = bodyOf(ids);
  const [{ value }] = keeper.write([{ id: 1, method: "add", args: [body, PROTOBUF] }]).answers;
  expect(expected, value, ids, body.length);
}

/** Reads all of it, in one piece and in many. @param {Traces} traces @param {Expected} expected */
function check(traces, expected) {
  const all = [...expected.traces].filter(([, bodies]) => bodies.length > 0);
  const changes = all.map(([traceId, ids]) => {
    return { traceId, bodies: ids.length, bytes: ids.reduce((sum, id) => sum + (expected.bytes.get(id) ?? 0), 0), changed: ids[ids.length - 1] };
  });
  const inOrder = (/** @type {typeof changes} */ list) => list.toSorted((a, b) => a.changed - b.changed || (a.traceId < b.traceId ? -1 : 1));
  const found = [];
  for (let position = 0; ; ) {
    const { traces: some, next } = traces.changed(position, 400);
    if (some.length === 0) break;
    found.push(...some);
    position = next;
  }
  assert.deepEqual(inOrder(found), inOrder(changes));
  for (const [trace, ids] of all.filter((_, i) => i % 97 === 0)) {
    assert.deepEqual(traces.bodiesOf([Buffer.from(trace, "hex")], 0, Infinity).map(({ id }) => id), ids);
    assert.deepEqual(traces.bodiesOf([Buffer.from(trace, "hex")], ids[0], 1).map(({ id }) => id), ids.slice(1, 2), "after a position, one at a time");
  }
  assert.deepEqual(traces.bodiesOf([randomBytes(16)], 0, Infinity), []);
}

/** @param {Database} database */
const stateOf = (database) => {
  const number = (/** @type {string} */ sql) => /** @type {number} */ (database.prepare(sql).pluck().get());
  const segments = number("SELECT count(*) FROM segments");
  const entries = /** @type {Buffer[]} */ (database.prepare("SELECT entries FROM blocks").pluck().all()).reduce((sum, block) => sum + [...entriesOf(block)].length, 0);
  return { segments, entries, isBegun: number("SELECT count(*) FROM blocks WHERE segment > (SELECT coalesce(max(last), 0) FROM segments)") > 0 };
};

test("ids of any length are packed and unpacked as they are", () => {
  for (const ids of [[], [Buffer.alloc(0)], POOL, [randomBytes(70_000)]]) {
    assert.deepEqual(unpacked(packed(ids)), ids.map((id) => id.toString("latin1")));
  }
});

test("whatever is in the index, in a part of it, or not yet, is read; also from what a kill leaves between two transactions", () => {
  const file = freshFile();
  const keeper = new Keeper({ file, bytes: 64 * MIB, exports: [] });
  const beside = openBeside(file);
  const traces = new Traces(beside);
  const expected = nothing();
  const seen = new Set();
  for (let i = 0; i < 90; i++) {
    add(keeper, expected);
    const { segments, isBegun } = stateOf(beside);
    const state = `${segments} ${isBegun}`;
    if (seen.has(state)) continue;
    seen.add(state);
    check(traces, expected);
    const copy = freshFile();
    for (const end of ["", "-wal"]) copyFileSync(file + end, copy + end);
    const other = structuredClone(expected);
    const again = new Keeper({ file: copy, bytes: 64 * MIB, exports: [] });
    for (let more = 0; more < 8; more++) add(again, other);
    const database = openBeside(copy);
    check(new Traces(database), other);
    database.close();
    again.close();
  }
  assert.deepEqual([...seen].slice(0, 4), ["0 false", "0 true", "1 false", "1 true"]);
  const { segments, entries } = stateOf(beside);
  assert.ok(segments >= 2 && entries > 2 * 15_000, `${segments} segments, ${entries} entries`);
  assert.equal(beside.pragma("integrity_check", { simple: true }), "ok");
  beside.close();
  keeper.close();
});

test("a transaction that is rolled back leaves nothing behind, in the file or beside it", () => {
  const file = freshFile();
  const database = openKept(file);
  const tables = new Tables(database);
  const traces = new Traces(database);
  const expected = nothing();
  for (let i = 0; i < 60; i++) {
    const ids = someIds(700);
    const body = bodyOf(ids);
    const write = database.transaction((/** @type {boolean} */ isGood) => {
      tables.begin();
      const id = tables.add({ at: 1, contentType: PROTOBUF, spans: ids.length, body, traces: packed(ids) });
      tables.index();
      if (!isGood) throw new Error("a disk that is full");
      return id;
    });
    if (i % 2 === 0) {
      assert.throws(() => write(false), /a disk that is full/);
      tables.undone();
    }
    expect(expected, write(true), ids, body.length);
  }
  check(traces, expected);
  assert.ok(stateOf(database).segments >= 1);
  database.close();
});

test("a segment goes with the last of its bodies, and what a dead letter has stays", () => {
  const file = freshFile();
  let steady = 0;
  const keeper = new Keeper({ file, bytes: 64 * MIB, ageMillis: 1000, exports: ["a"] }, { wall: () => 1e12, steady: () => steady });
  const expected = nothing();
  const bodies = 140;
  for (let i = 0; i < bodies; i++) add(keeper, expected);
  const beside = openBeside(file);
  const before = stateOf(beside);
  assert.ok(before.segments >= 3);
  const [second] = /** @type {number[]} */ (beside.prepare("SELECT last FROM segments ORDER BY last LIMIT 1 OFFSET 1").pluck().all());
  const settle = (/** @type {number} */ to, /** @type {any[]} */ dead) => keeper.write([{ id: 1, method: "settle", args: ["a", to, dead] }]);
  settle(bodies, [{ export: "a", body: second, attempts: 1, reason: "no" }]);
  steady = 2000;
  add(keeper, expected, 10);
  assert.equal(keeper.write([{ id: 1, method: "pruneOld", args: [] }]).pruned.age, bodies - 1);
  const left = new Set([second, bodies + 1]);
  for (const [trace, ids] of expected.traces) expected.traces.set(trace, ids.filter((id) => left.has(id)));
  check(new Traces(beside), expected);
  assert.deepEqual(beside.prepare("SELECT last FROM segments").pluck().all(), [second]);
  assert.deepEqual(list(beside, {}).map(({ traces }) => traces.toSorted()), [[...expected.traces].filter(([, ids]) => ids.includes(second)).map(([trace]) => trace).toSorted()]);
  keeper.write([{ id: 1, method: "resolve", args: [1] }, { id: 2, method: "pruneOld", args: [] }]);
  for (const [trace, ids] of expected.traces) expected.traces.set(trace, ids.filter((id) => id !== second));
  // What was begun may go on: it is whole, or nothing is left of it.
  for (let i = 0; i < 60; i++) add(keeper, expected);
  check(new Traces(beside), expected);
  const newest = /** @type {number[]} */ (beside.prepare("SELECT last FROM segments ORDER BY last").pluck().all());
  assert.ok(newest.length >= 1 && newest.every((last) => last > bodies), `${newest}`);
  assert.equal(beside.prepare("SELECT count(*) FROM blocks WHERE segment <= ?").pluck().get(bodies), 0);
  beside.close();
  keeper.close();
});

test("what the index will take is kept free: a store at its bound never grows beyond it", () => {
  const file = freshFile();
  const bytes = 4 * MIB;
  const keeper = new Keeper({ file, bytes, exports: ["a"] });
  let answer;
  let last = 0;
  let pruned = 0;
  for (let i = 0; i < 300; i++) {
    const written = keeper.write([{ id: 1, method: "add", args: [bodyOf(Array.from({ length: 700 }, () => randomBytes(16))), PROTOBUF] }]);
    [answer] = written.answers;
    pruned += written.pruned.size;
    assert.ok(keeper.read({ id: 1, method: "facts", args: [] }).value.bytes <= bytes);
    if (answer.refused) break;
    last = answer.value;
    keeper.write([{ id: 1, method: "settle", args: ["a", last, []] }]);
  }
  assert.deepEqual([answer?.refused, last], [undefined, 300]);
  assert.ok(pruned > 200, `${pruned} were pruned`);
  keeper.close();
});

test("a trace that every body has spans of is found in every block of a segment", () => {
  const file = freshFile();
  const keeper = new Keeper({ file, bytes: 64 * MIB, exports: [] });
  const expected = nothing();
  const trace = Buffer.alloc(16, 0x77);
  const ids = Array.from({ length: 15_000 }, (_, i) => [trace, Buffer.from(i.toString(16).padStart(32, "0"), "hex")]);
  const { answers } = keeper.write(ids.map((own, id) => ({ id, method: "add", args: [bodyOf(own), PROTOBUF] })));
  for (const { id, value } of answers) expect(expected, value, ids[id], bodyOf(ids[id]).length);
  add(keeper, expected);
  const beside = openBeside(file);
  assert.equal(stateOf(beside).segments, 1);
  check(new Traces(beside), expected);
  beside.close();
  keeper.close();
});

/** Begins a segment of the index as version 2 has it, and leaves it. @param {string} file */
function beginSegment(file) {
  const database = openKept(file, MIGRATIONS.slice(0, 2));
  const waiting = database.prepare("SELECT body, traces FROM traced WHERE body > (SELECT coalesce(max(last), 0) FROM segments)").all();
  const entries = /** @type {{ body: number, traces: Buffer }[]} */ (waiting).flatMap(({ body, traces }) => unpacked(traces).map((trace) => ({ body, trace: Buffer.from(trace, "latin1") })));
  entries.sort((a, b) => Buffer.compare(a.trace, b.trace) || a.body - b.body);
  const last = Math.max(...entries.map(({ body }) => body));
  const insert = database.prepare("INSERT INTO traces (segment, trace, body) VALUES (?, ?, ?)");
  for (const { trace, body } of entries.slice(0, entries.length / 2)) insert.run(last, trace, body);
  database.close();
}

for (const version of [1, 2]) test(`a store of version ${version} is brought up to date, with all of its traces`, () => {
  const file = freshFile();
  const old = openKept(file, MIGRATIONS.slice(0, 1));
  const expected = nothing();
  const insert = old.prepare("INSERT INTO bodies (at, type, spans, through, body) VALUES (?, ?, ?, ?, ?)");
  const link = old.prepare("INSERT INTO traces (trace, body) VALUES (?, ?)");
  let through = 0;
  old.transaction(() => {
    for (let i = 0; i < 80; i++) {
      const ids = someIds(700);
      const body = bodyOf(ids);
      const id = Number(insert.run(1e12 + i, PROTOBUF, ids.length, (through += body.length), body).lastInsertRowid);
      for (const trace of ids) link.run(trace, id);
      expect(expected, id, ids, body.length);
    }
    old.prepare("INSERT INTO dead (export, body, at, attempts, reason) VALUES ('a', 7, 1, 1, 'no')").run();
  })();
  old.close();
  if (version === 2) beginSegment(file);
  const keeper = new Keeper({ file, bytes: 64 * MIB, exports: [] });
  const beside = openBeside(file);
  assert.equal(beside.pragma("user_version", { simple: true }), MIGRATIONS.length);
  assert.equal(keeper.read({ id: 1, method: "facts", args: [] }).value.bodies, 80);
  const { segments, isBegun } = stateOf(beside);
  assert.ok(segments >= 2 && !isBegun, `${segments} segments`);
  const traces = new Traces(beside);
  check(traces, expected);
  assert.equal(list(beside, {})[0].traces.length, [...expected.traces].filter(([, ids]) => ids.includes(7)).length);
  for (let i = 0; i < 60; i++) add(keeper, expected);
  check(traces, expected);
  assert.ok(stateOf(beside).segments > segments);
  beside.close();
  keeper.close();
  const empty = freshFile();
  openKept(empty, MIGRATIONS.slice(0, version)).close();
  new Keeper({ file: empty, bytes: MIB, exports: [] }).close();
});
