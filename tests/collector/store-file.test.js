/** The file of a store: whose it is, its tables, its bounds and its clock, without a collector around it. */
import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { createClock } from "../../collector/src/store/clock.js";
import { Bounds } from "../../collector/src/store/bounds.js";
import { Keeper } from "../../collector/src/store/keeper.js";
import { MIGRATIONS } from "../../collector/src/store/migrations.js";
import { checkStore, openBeside, openKept } from "../../collector/src/store/open.js";
import { packed } from "../../collector/src/store/packed-ids.js";
import { Reader } from "../../collector/src/store/reader.js";
import { Tables } from "../../collector/src/store/tables.js";
import { freshId, request } from "../integration/support/fixtures.js";
import { freshFolder } from "./support/folders.js";

/** @type {typeof import("better-sqlite3")} */
const Database = createRequire(new URL("../../collector/package.json", import.meta.url))("better-sqlite3");
const PROTOBUF = "application/x-protobuf";
const MIB = 1 << 20;
const folder = freshFolder();
let files = 0;
const freshFile = () => join(folder, `${++files}.db`);

/** @param {string} code @param {RegExp} words */
const storeError = (code, words) => (/** @type {any} */ error) => error.name === "StoreError" && error.code === code && words.test(error.message);

/** A body of one span. @param {number} [bytes] About so many. */
const bodyOf = (bytes = 0) => request({ trace: freshId(16), span: freshId(8), attributes: { text: "x".repeat(bytes) } });

/** @param {Keeper} keeper @param {Uint8Array} body @returns {import("../../collector/src/store/calls.js").Answer & { pruned: number }} */
function add(keeper, body) {
  const { answers, pruned } = keeper.write([{ id: 1, method: "add", args: [body, PROTOBUF] }]);
  return { ...answers[0], pruned: pruned.size };
}

/** @param {Keeper} keeper @param {string} method @param {...any} args */
const ask = (keeper, method, ...args) => keeper.read({ id: 1, method, args }).value;
/** @param {Keeper} keeper @param {string} method @param {...any} args */
const write = (keeper, method, ...args) => keeper.write([{ id: 1, method, args }]);

/** The ids of what is there. @param {Keeper} keeper @returns {number[]} */
const idsIn = (keeper) => ask(keeper, "after", 0, Infinity).map((/** @type {{ id: number }} */ { id }) => id);

test("a new file is for its user alone, waits for the disk, and says whose it is", () => {
  const file = freshFile();
  const database = openKept(file);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(["journal_mode", "synchronous", "user_version", "application_id"].map((name) => database.pragma(name, { simple: true })), ["wal", 2, MIGRATIONS.length, 0x74327463]);
  database.close();
  const again = openKept(file);
  assert.equal(again.pragma("user_version", { simple: true }), MIGRATIONS.length);
  again.close();
});

test("what is no store is refused, and stays as it is", () => {
  const text = freshFile();
  writeFileSync(text, "no database of anybody, but long enough to be read as one\n".repeat(20));
  const foreign = freshFile();
  new Database(foreign).exec("CREATE TABLE theirs (a)").close();
  const theirs = freshFile();
  new Database(theirs).exec("PRAGMA application_id = 42").close();
  const newer = freshFile();
  openKept(newer).exec("PRAGMA user_version = 99").close();
  const cases = /** @type {const} */ ([
    [text, "store_foreign", /is no store, nor any database of SQLite: name another file$/],
    [foreign, "store_foreign", /is a database of another program: name another file$/],
    [theirs, "store_foreign", /is a database of another program: name another file$/],
    [newer, "store_newer", /newer version of token2text-collector \(its schema is 99, this version knows \d+: update token2text-collector, or name another file\)$/],
  ]);
  for (const [file, code, words] of cases) {
    const before = readFileSync(file);
    for (const open of [openKept, openBeside, checkStore]) assert.throws(() => open(file), storeError(code, words), file);
    assert.deepEqual(readFileSync(file), before);
    assert.ok(!existsSync(`${file}-wal`), "nothing is left beside it");
  }
});

test("what cannot be opened is said in words", () => {
  const inFolder = join(folder, "none", "a.db");
  assert.throws(() => openKept(inFolder), storeError("store_unusable", /cannot open .*: there is no such file, or no folder for it$/));
  assert.throws(() => new Keeper({ file: inFolder, bytes: MIB, exports: [] }), storeError("store_unusable", /cannot open .*a\.db\.lock: there is no such file, or no folder for it$/));
  mkdirSync(join(folder, "folder"));
  assert.throws(() => openKept(join(folder, "folder")), storeError("store_unusable", /it is a folder$/));
  const incomplete = freshFile();
  openKept(incomplete).exec("DROP TABLE blocks").close();
  for (let time = 0; time < 2; time++) assert.throws(() => new Keeper({ file: incomplete, bytes: MIB, exports: [] }), storeError("store_unusable", /cannot open .*: no such table: .*blocks$/));
  assert.throws(() => new Reader(incomplete), storeError("store_unusable", /cannot open .*: no such table: .*blocks$/));
  const damaged = freshFile();
  openKept(damaged).close();
  writeFileSync(damaged, readFileSync(damaged).fill(0xff, 8192));
  assert.throws(() => new Keeper({ file: damaged, bytes: MIB, exports: [] }), storeError("store_unusable", /cannot open .*: it is damaged/));
  const file = freshFile();
  assert.throws(() => openBeside(file), storeError("store_unusable", /there is no such file/));
  checkStore(file);
  assert.ok(!existsSync(file), "looking at it makes no file");
});

test("migrations run in their order, all or none", () => {
  const file = freshFile();
  openKept(file).close();
  const one = "CREATE TABLE one (a); INSERT INTO one SELECT count(*) FROM bodies";
  assert.throws(() => openKept(file, [...MIGRATIONS, one, "CREATE TABLE two (a); INSERT INTO nowhere VALUES (1)"]), storeError("store_unusable", /no such table: nowhere/));
  const before = openKept(file);
  assert.equal(before.pragma("user_version", { simple: true }), MIGRATIONS.length);
  assert.equal(before.prepare("SELECT count(*) FROM sqlite_schema WHERE name IN ('one', 'two')").pluck().get(), 0, "nothing of the first is left");
  before.close();
  const after = openKept(file, [...MIGRATIONS, one, "CREATE TABLE two AS SELECT a FROM one"]);
  assert.equal(after.prepare("SELECT a FROM two").pluck().get(), 0);
  assert.equal(after.pragma("user_version", { simple: true }), MIGRATIONS.length + 2);
  after.close();
  assert.throws(() => openKept(file), storeError("store_newer", /newer version/), "which this version does not know");
});

test("a store of an older version is brought up to date by the collector alone", () => {
  const file = freshFile();
  openKept(file).exec("PRAGMA user_version = 0").close();
  assert.throws(() => openBeside(file), storeError("store_older", /start the collector with it once$/));
});

test("one process keeps a store; others may read it, and write for a moment", () => {
  const file = freshFile();
  const keeper = new Keeper({ file, bytes: MIB, exports: [] });
  assert.throws(() => new Keeper({ file, bytes: MIB, exports: [] }), storeError("store_locked", /is in use by another process: stop that one, or name another file$/));
  add(keeper, bodyOf());
  const beside = openBeside(file);
  assert.equal(beside.prepare("SELECT count(*) FROM bodies").pluck().get(), 1);
  beside.exec("UPDATE dead SET due = 1");
  assert.equal(add(keeper, bodyOf()).value, 2);
  beside.close();
  keeper.close();
  new Keeper({ file, bytes: MIB, exports: [] }).close();
});

test("without exports nothing is pruned for its size: what is too much is refused, and goes in when there is room", () => {
  const file = freshFile();
  const small = new Keeper({ file, bytes: MIB, exports: [] });
  const ids = [];
  let answer = add(small, bodyOf(10_000));
  for (; answer.value !== undefined; answer = add(small, bodyOf(10_000))) ids.push(answer.value);
  assert.deepEqual(answer.refused, { statusCode: 503, message: "the store has the 1048576 bytes of --store-size; give it more room, or let --store-age end what is old" });
  assert.ok(ids.length > 60 && statSync(file).size <= MIB, `${ids.length} bodies`);
  assert.deepEqual(idsIn(small), ids);
  small.close();
  const large = new Keeper({ file, bytes: 2 * MIB, exports: [] });
  assert.ok(add(large, bodyOf(10_000)).value > ids.length);
  large.close();
});

test("what every export has settled is pruned for its size, oldest first, and nothing else", () => {
  const keeper = new Keeper({ file: freshFile(), bytes: MIB, exports: ["a", "b"] });
  for (let id = 1; id <= 20; id++) assert.equal(add(keeper, bodyOf(20_000)).value, id);
  write(keeper, "settle", "a", 18, []);
  write(keeper, "settle", "b", 12, [{ export: "b", body: 2, attempts: 1, status: 400, reason: "no" }]);
  write(keeper, "settle", "not configured", 1, []);
  let pruned = 0;
  let answer = add(keeper, bodyOf(20_000));
  for (; answer.value !== undefined; answer = add(keeper, bodyOf(20_000))) pruned += answer.pruned;
  assert.match(answer.refused?.message ?? "", /exports have not taken what is there$/);
  assert.equal(pruned + answer.pruned, 11, "the 12 that both have settled, but for the dead letter");
  const left = idsIn(keeper);
  assert.deepEqual(left.slice(0, 3), [2, 13, 14]);
  assert.equal(ask(keeper, "facts").bodies, left.length);
  // Retried or dropped, it may go too.
  write(keeper, "resolve", 1);
  write(keeper, "settle", "b", 13, []);
  assert.ok(add(keeper, bodyOf(20_000)).value > 20);
  assert.ok(idsIn(keeper)[0] > 2);
  keeper.close();
});

test("a position and its dead letters are written together, and a dead letter is tried again when it is due", () => {
  const file = freshFile();
  const keeper = new Keeper({ file, bytes: MIB, exports: ["a"] });
  const bodies = [bodyOf(), bodyOf()];
  for (const body of bodies) add(keeper, body);
  write(keeper, "settle", "a", 2, [{ export: "a", body: 1, attempts: 3, status: 422, reason: "a span is bad" }, { export: "a", body: 2, attempts: 1, reason: "too large" }]);
  assert.deepEqual(ask(keeper, "facts").dead, { a: 2 });
  assert.deepEqual(ask(keeper, "due", "a", 10), []);
  const beside = openBeside(file);
  beside.exec("UPDATE dead SET due = 1 WHERE body = 1");
  beside.close();
  const [due, ...more] = ask(keeper, "due", "a", 10);
  assert.deepEqual(more, []);
  const { stored, ...letter } = due;
  assert.deepEqual(letter, { id: 1, export: "a", body: 1, attempts: 3, status: 422, reason: "a span is bad" });
  assert.deepEqual(Buffer.from(stored.body), Buffer.from(bodies[0]));
  write(keeper, "resolve", 1, { export: "a", body: 1, attempts: 4, reason: "still bad" });
  assert.deepEqual([ask(keeper, "due", "a", 10), ask(keeper, "facts").dead], [[], { a: 2 }]);
  write(keeper, "resolve", 1);
  assert.deepEqual([ask(keeper, "facts").dead, ask(keeper, "position", "a"), ask(keeper, "position", "new")], [{ a: 1 }, 2, 0]);
  keeper.close();
});

test("a full disk prunes too, before SQLite meets its end", () => {
  const database = openKept(freshFile());
  const tables = new Tables(database);
  let available = 1e12;
  const bounds = (/** @type {string[]} */ exports) => new Bounds(tables, { bytes: 1e12, exports }, () => available);
  const add = () => tables.add({ at: 1, contentType: PROTOBUF, spans: 1, body: Buffer.alloc(100_000), traces: packed([Buffer.from(freshId(16), "hex")]) });
  for (let i = 0; i < 10; i++) add();
  tables.settle("a", 5, [], 1);
  available = 0;
  assert.deepEqual(bounds([]).makeRoom(Buffer.alloc(100_000), []), { isRoom: false, pruned: 0 });
  const full = bounds(["a"]);
  assert.deepEqual(full.makeRoom(Buffer.alloc(100_000_000), []), { isRoom: false, pruned: 5 });
  assert.match(full.fullInWords, /^the disk of the store is full; exports have not taken what is there$/);
  database.close();
});

test("what is too old goes, if every export has settled it", () => {
  const file = freshFile();
  let wall = 1e12;
  let steady = 5;
  const clocks = { wall: () => wall, steady: () => steady };
  const limits = { file, bytes: MIB, ageMillis: 1000 };
  const held = new Keeper({ ...limits, exports: ["a"] }, clocks);
  held.write(Array.from({ length: 300 }, (_, id) => ({ id, method: "add", args: [bodyOf(), PROTOBUF] })));
  steady += 1001;
  add(held, bodyOf());
  write(held, "settle", "a", 280, [{ export: "a", body: 7, attempts: 1, reason: "no" }]);
  assert.deepEqual(write(held, "pruneOld").pruned, { size: 0, age: 256 });
  assert.deepEqual(write(held, "pruneOld").pruned, { size: 0, age: 23 });
  assert.deepEqual(idsIn(held).slice(0, 2), [7, 281]);
  held.close();
  // Without exports all that is old goes.
  const kept = new Keeper({ ...limits, exports: [] }, clocks);
  write(kept, "resolve", 1);
  assert.equal(write(kept, "pruneOld").pruned.age, 21);
  assert.deepEqual(idsIn(kept), [301]);
  kept.close();
});

test("time never goes back, whatever is done to the clock", () => {
  let wall = 5000;
  let steady = 70;
  const clock = createClock(0, { wall: () => wall, steady: () => steady });
  assert.equal(clock(), 5000);
  steady += 10.5;
  wall = 0;
  assert.equal(clock(), 5010);
  wall = 9e12;
  steady += 10;
  assert.equal(clock(), 5020, "nor does it jump");
  assert.equal(createClock(8000, { wall: () => 3000, steady: () => 0 })(), 8000, "what is stored already is not newer");
});

test("a clock that was set back between two runs neither prunes early nor keeps for ever", () => {
  const file = freshFile();
  let steady = 0;
  const first = new Keeper({ file, bytes: MIB, exports: [], ageMillis: 1000 }, { wall: () => 2e12, steady: () => steady });
  add(first, bodyOf());
  first.close();
  const second = new Keeper({ file, bytes: MIB, exports: [], ageMillis: 1000 }, { wall: () => 1e12, steady: () => steady });
  steady += 600;
  add(second, bodyOf());
  assert.equal(write(second, "pruneOld").pruned.age, 0);
  steady += 600;
  assert.equal(write(second, "pruneOld").pruned.age, 1);
  assert.deepEqual(ask(second, "after", 0, Infinity).map((/** @type {{ id: number, at: number }} */ { id, at }) => [id, at]), [[2, 2e12 + 600]]);
  second.close();
});

test("no id is given twice, though all that had it is gone", () => {
  const file = freshFile();
  let steady = 0;
  const clocks = { wall: () => 1e12, steady: () => steady };
  const first = new Keeper({ file, bytes: MIB, exports: [], ageMillis: 1 }, clocks);
  for (let i = 0; i < 3; i++) add(first, bodyOf());
  steady = 10;
  write(first, "pruneOld");
  assert.deepEqual([idsIn(first), ask(first, "facts").last], [[], 3]);
  first.close();
  const second = new Keeper({ file, bytes: MIB, exports: [] }, clocks);
  assert.equal(add(second, bodyOf()).value, 4);
  second.close();
});
