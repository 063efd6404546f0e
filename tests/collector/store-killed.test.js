/**
 * The real command, which ends at any moment, finds its disk full, or the clock set: what it has acknowledged is there.
 *
 * STORE_KILLS: how often it is killed (10). `prlimit` (util-linux) sets the largest file that a process may write: that is how a disk
 * is full here, whoever runs it. Where users may mount in a name space of their own (`unshare`), a small tmpfs is filled too.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { appendFileSync, truncateSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { splitSpans } from "../../pkg/exporters/otlp-request.js";
import { freshId, request } from "../integration/support/fixtures.js";
import { BIN, Command } from "./support/command.js";
import { fetched } from "./support/fetched.js";
import { freshFolder } from "./support/folders.js";
import { tinyTokenizer } from "./support/tiny-tokenizer.js";

/** @type {typeof import("better-sqlite3")} */
const Database = createRequire(new URL("../../collector/package.json", import.meta.url))("better-sqlite3");
const KILLS = Number(process.env.STORE_KILLS ?? 10);
const SENDERS = 8;
const folder = freshFolder();
const tokenizer = tinyTokenizer(folder);

/** @param {string} file @param {string[]} [more] @param {Record<string, string>} [env] @param {string[]} [command] */
const storing = (file, more = [], env, command) => new Command(["-t", tokenizer, "--cache", "none", "--workers", "1", "--receive", "0", "--store", file, ...more], { env, command });
/** @param {string} url @param {Uint8Array} body */
const send = (url, body) => fetched(`${url}/v1/traces`, { method: "POST", headers: { "content-type": "application/x-protobuf" }, body: /** @type {BodyInit} */ (body) });
/** @param {string} trace @param {number} [bytes] */
const bodyOf = (trace, bytes = 3000) => request({ trace, span: freshId(8), attributes: { text: "x".repeat(Math.floor(Math.random() * bytes)) } });
/** @param {number} millis */
const pause = (millis) => new Promise((resolve) => setTimeout(resolve, millis));

test(`killed ${KILLS} times under load: all that was acknowledged is there, once`, async () => {
  const file = join(folder, "killed.db");
  /** What was acknowledged, by its trace. @type {Map<string, Buffer>} */
  const acknowledged = new Map();
  for (let kill = 0; kill < KILLS; kill++) {
    const command = storing(file);
    const url = await command.url("receive");
    const before = acknowledged.size;
    let isLoaded = true;
    const load = Promise.all(Array.from({ length: SENDERS }, async () => {
      while (isLoaded) {
        const trace = freshId(16);
        const body = bodyOf(trace);
        const status = await send(url, body).then((answer) => answer.status, () => undefined);
        if (status === undefined) return;
        assert.equal(status, 200);
        acknowledged.set(trace, Buffer.from(body));
      }
    }));
    while (acknowledged.size === before) await pause(1);
    await pause(Math.random() * 200);
    command.signal("SIGKILL");
    assert.equal(await command.ended, "SIGKILL");
    isLoaded = false;
    await load;
    assert.ok(acknowledged.size > before);
  }
  const last = storing(file);
  const url = await last.url("receive");
  const [[trace, body]] = acknowledged;
  const read = splitSpans(new Uint8Array(await (await fetched(`${url}/v1/traces/${trace}?raw=true`)).arrayBuffer()));
  assert.deepEqual(read.map(({ bytes }) => Buffer.from(bytes)), splitSpans(body).map(({ bytes }) => Buffer.from(bytes)));
  last.signal("SIGTERM");
  assert.equal(await last.ended, 0);
  const database = new Database(file, { readonly: true });
  assert.equal(database.pragma("integrity_check", { simple: true }), "ok");
  const stored = /** @type {[string, Buffer][]} */ (database.prepare("SELECT lower(hex(substr(traces, 5))), bodies.body FROM bodies JOIN traced ON traced.body = id").raw().all());
  database.close();
  const bodies = new Map(stored);
  assert.equal(bodies.size, stored.length, "each once");
  for (const [trace, body] of acknowledged) assert.deepEqual(bodies.get(trace), body, trace);
});

test("a second process on the same file is refused in words, and the first goes on", async () => {
  const file = join(folder, "shared.db");
  const first = storing(file);
  const url = await first.url("receive");
  const second = storing(file);
  assert.equal(await second.ended, 1);
  assert.equal(second.stderr, `token2text-collector: ${file} is in use by another process: stop that one, or name another file\n`);
  assert.equal((await send(url, bodyOf(freshId(16)))).status, 200);
  const third = storing(tokenizer);
  assert.equal(await third.ended, 2);
  assert.match(third.stderr, /tokenizer\.json is no store, nor any database of SQLite: name another file\n$/);
  first.signal("SIGTERM");
  assert.equal(await first.ended, 0);
  const after = storing(file);
  await after.url("receive");
  after.signal("SIGTERM");
  assert.equal(await after.ended, 0);
});

test("a disk that is full: senders are told to try again, nothing is half stored, and it goes on when there is space", async () => {
  const file = join(folder, "full.db");
  const command = storing(file, ["--admin", "0"]);
  const url = await command.url("receive");
  const admin = await command.url("admin");
  const limit = (/** @type {string} */ bytes) => {
    const { status, stderr, error } = spawnSync("prlimit", ["--pid", String(command.pid), `--fsize=${bytes}:unlimited`], { encoding: "utf8" });
    assert.equal(status, 0, `prlimit of util-linux is needed here: ${error ?? stderr}`);
  };
  limit("1000000");
  const kept = [];
  const sent = () => {
    const trace = freshId(16);
    return { trace, body: bodyOf(trace, 200_000) };
  };
  let last = sent();
  let answer = await send(url, last.body);
  for (; answer.status === 200; answer = await send(url, (last = sent()).body)) kept.push(last.trace);
  assert.ok(kept.length > 0);
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "10"]);
  assert.match(await answer.text(), /the store cannot be written: .* \(SQLITE_[A-Z_]+\); send it again later/);
  const health = await fetched(`${admin}/health`);
  assert.deepEqual([health.status, (await health.json()).status], [503, "refusing"]);
  limit("unlimited");
  for (const { trace, body } of [last, sent(), sent()]) {
    assert.equal((await send(url, body)).status, 200);
    kept.push(trace);
  }
  assert.equal((await fetched(`${admin}/health`)).status, 200);
  command.signal("SIGTERM");
  assert.equal(await command.ended, 0);
  assert.deepEqual(command.log.filter(({ msg }) => /what is received/.test(msg)).map(({ level }) => level), ["error", "info"]);
  const database = new Database(file, { readonly: true });
  assert.equal(database.pragma("integrity_check", { simple: true }), "ok");
  assert.deepEqual(database.prepare("SELECT lower(hex(substr(traces, 5))) FROM traced ORDER BY body").pluck().all(), kept);
  database.close();
});

/** Before a command: its folder becomes a disk of its own, which only that process sees. */
const MOUNTED = ["unshare", "-rm", "sh", "-c", 'mount -t tmpfs -o size=88m tmpfs "$0" && exec "$@"'];
const canMount = spawnSync(MOUNTED[0], [...MOUNTED.slice(1), folder, "true"]).status === 0;

if (!canMount) console.log("no tmpfs is filled: users may not mount in a name space of their own here (unshare -rm)");
if (canMount) test("a small tmpfs that is full to the last byte, and has room again", async () => {
  const disk = freshFolder();
  const command = storing(join(disk, "full.db"), [], undefined, [...MOUNTED, disk, process.execPath, BIN]);
  const url = await command.url("receive");
  const filler = join("/proc", String(command.pid), "root", disk, "filler");
  writeFileSync(filler, Buffer.alloc(20 << 20));
  /** @type {string[]} */
  const kept = [];
  const untilFull = async () => {
    for (;;) {
      const trace = freshId(16);
      const answer = await send(url, bodyOf(trace, 500_000));
      if (answer.status !== 200) return answer;
      kept.push(trace);
    }
  };
  for (const words of [/the disk of the store is full/, /the disk of the store is full|the store cannot be written/]) {
    const before = kept.length;
    const answer = await untilFull();
    assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "10"]);
    assert.match(await answer.text(), words);
    assert.ok(kept.length > before);
    // To the last byte; then there is room again.
    assert.throws(() => appendFileSync(filler, Buffer.alloc(40 << 20)), { code: "ENOSPC" });
    assert.equal((await send(url, bodyOf(freshId(16), 500_000))).status, 503);
    truncateSync(filler, 0);
  }
  const { traces } = await (await fetched(`${url}/v1/traces?limit=1000`)).json();
  assert.deepEqual(traces.map((/** @type {{ traceId: string }} */ { traceId }) => traceId).toSorted(), kept.toSorted());
  command.signal("SIGTERM");
  assert.equal(await command.ended, 0);
});

test("a clock that is set back while it runs, and before the next run: times never go back, and age still ends what is old", async () => {
  const file = join(folder, "clock.db");
  const days = (/** @type {number} */ before, /** @type {number} */ then) =>
    `data:text/javascript,${encodeURIComponent(`const real = Date.now; const start = real(); Date.now = () => real() + 86400000 * (real() - start < 1500 ? ${before} : ${then});`)}`;
  const run = async (/** @type {string} */ clock, /** @type {string[]} */ more, /** @type {number} */ millis) => {
    const command = storing(file, more, { NODE_OPTIONS: `--import ${clock}` });
    const url = await command.url("receive");
    const end = performance.now() + millis;
    do {
      assert.equal((await send(url, bodyOf(freshId(16)))).status, 200);
      await pause(100);
    } while (performance.now() < end);
    command.signal("SIGTERM");
    assert.equal(await command.ended, 0);
    return command;
  };
  const times = () => {
    const database = new Database(file, { readonly: true });
    const found = database.prepare("SELECT id, at FROM bodies ORDER BY id").all();
    database.close();
    return /** @type {{ id: number, at: number }[]} */ (found);
  };
  await run(days(30, -30), [], 2000);
  const first = times();
  await run(days(0, 0), ["--store-age", "1h"], 0);
  const second = times();
  assert.ok(second.length > first.length && first.length > 3, "a wrong clock prunes nothing early");
  for (const [i, { at }] of second.entries()) assert.ok(i === 0 || at >= second[i - 1].at, `${i}`);
  assert.ok(first[0].at > Date.now() + 29 * 86_400_000, "the clock was wrong");
  const { log } = await run(days(0, 0), ["--store-age", "1s"], 2500);
  assert.ok(times()[0].id > second.length, "nor does it keep anything for ever");
  const pruned = log.filter(({ msg, reason }) => msg === "bodies were pruned" && reason === "age").map(({ bodies }) => bodies);
  assert.ok(pruned.reduce((sum, bodies) => sum + bodies, 0) >= second.length);
});
