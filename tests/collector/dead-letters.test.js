/** What an export refuses for good: it is set aside with the reason, tried again or given up when somebody says so, and holds nothing up. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { runCommand } from "../../collector/src/commands/command.js";
import { COMMANDS } from "../../collector/src/commands/commands.js";
import { BIN, Command } from "./support/command.js";
import { freshFolder } from "./support/folders.js";
import { send, startForwarder, until } from "./support/forwarding.js";
import { startPool } from "./support/pool.js";
import { Sink } from "./support/sink.js";
import { Acknowledged, PROTOBUF, traceOf } from "./support/spans.js";

/** @typedef {import("./support/spans.js").Sent} Sent */

const pool = await startPool();
after(() => pool.close());
const folder = freshFolder();
let stores = 0;
const freshStore = () => join(folder, `${++stores}.db`);
/** One rejected span, as a server of OTLP says it. */
const PARTIAL = { status: 200, body: Buffer.from("0a0b0801120774726f75626c65", "hex") };

/** A sink that refuses what holds `bad` with one answer, and keeps what it took otherwise. @param {import("./support/sink.js").SinkAnswer} refusal */
async function pickySink(refusal) {
  const sink = await new Sink().start();
  after(() => sink.close());
  /** @type {{ sink: Sink, taken: Sent[], isPicky: boolean }} */
  const picky = { sink, taken: [], isPicky: true };
  sink.answer = (body) => {
    if (picky.isPicky && body.includes("a bad span")) return refusal;
    picky.taken.push({ body, contentType: PROTOBUF });
    return { status: 200 };
  };
  return picky;
}

/** @param {string[]} args */
async function run(...args) {
  const command = new Command(args, { command: [process.execPath, BIN] });
  return { status: await command.ended, out: command.stdout, said: command.stderr };
}

/** @param {string} file @returns {Promise<import("../../collector/src/forwarding/dead-letters.js").Letter[]>} */
async function lettersOf(file) {
  const { status, out } = await run("dead-letters", file, "--json");
  assert.equal(status, 0);
  return JSON.parse(out);
}

test("a body that is refused is a dead letter with the reason; those beside it are stored, and those after it", async () => {
  /** @type {[what: string, refusal: import("./support/sink.js").SinkAnswer, status: number, reason: RegExp][]} */
  const REFUSALS = [
    ["400", { status: 400, body: Buffer.from("0803120a6e6f742074686174", "hex") }, 400, /status 400/],
    ["413", { status: 413, headers: { "content-type": "text/plain" }, body: "too large for me" }, 413, /too large for me/],
    ["a partial success", PARTIAL, 200, /rejected 1 spans: trouble/],
    ["500, again and again", { status: 500, headers: { "content-type": "text/plain" }, body: "ouch" }, 500, /status 500: ouch/],
  ];
  for (const [what, refusal, status, reason] of REFUSALS) {
    const { sink, taken } = await pickySink(refusal);
    const file = freshStore();
    const collector = await startForwarder(pool, file, [sink.target()]);
    try {
      const acknowledged = new Acknowledged();
      const bad = traceOf(3, { is: "a bad span" });
      for (const sent of [traceOf(), traceOf(), bad, traceOf(), traceOf()]) {
        await send(collector.url, sent);
        acknowledged.add(sent);
      }
      await until(async () => acknowledged.in(taken) === acknowledged.count - 3 && Object.keys((await collector.store.facts()).dead).length > 0, () => collector.lines.join(""));
      // Of several that went together some may have been stored before the one was refused.
      acknowledged.assertAllIn(taken, { but: [bad], isOnce: false });
      const [letter, ...others] = await lettersOf(file);
      assert.deepEqual(others, [], what);
      assert.deepEqual([letter.status, letter.spans, letter.bytes, letter.traces.length, letter.isDue, letter.body], [status, 3, bad.body.length, 1, false, 3], what);
      assert.match(letter.reason, reason);
      assert.ok(letter.attempts === (status === 500 ? 5 : 1), `${what}: ${letter.attempts}`);
      const facts = await collector.store.facts();
      assert.deepEqual([Object.values(facts.dead), Object.values(facts.positions), Object.values(facts.behind)], [[1], [5], [{ bodies: 0, bytes: 0, seconds: 0 }]]);
      assert.doesNotMatch(collector.lines.join(""), /a bad span/);
    } finally {
      await collector.close();
    }
  }
});

describe("commands", () => {
  test("retry, beside a collector that runs and before one starts; give-up", async () => {
    const picky = await pickySink({ status: 400 });
    const { sink, taken } = picky;
    const file = freshStore();
    const to = [sink.target()];
    const acknowledged = new Acknowledged();
    let collector = await startForwarder(pool, file, to);
    const bad = Array.from({ length: 4 }, () => traceOf(2, { is: "a bad span" }));
    for (const sent of bad) {
      await send(collector.url, sent);
      acknowledged.add(sent);
    }
    const deadIs = (/** @type {number} */ count) => until(async () => (Object.values((await collector.store.facts()).dead)[0] ?? 0) === count, () => collector.lines.join(""));
    await deadIs(4);
    const [first, second, third] = await lettersOf(file);

    // Refused again: it stays one, and its attempts are counted.
    assert.deepEqual(await run("retry", file, "--id", String(first.id)), { status: 0, out: "1 dead letter will be tried again\n", said: "" });
    await until(async () => (await lettersOf(file))[0].attempts === 2);
    assert.equal((await lettersOf(file))[0].isDue, false);

    picky.isPicky = false;
    assert.equal((await run("retry", file, "--id", String(first.id), "--id", String(second.id))).status, 0);
    await deadIs(2);
    acknowledged.assertAllIn(taken, { but: bad.slice(2) });

    const wrongOne = await run("give-up", file, "--id", String(first.id));
    assert.deepEqual([wrongOne.status, wrongOne.said], [1, "0 dead letters with 0 spans given up\n"]);
    assert.deepEqual(await run("give-up", file, "--id", String(third.id)), { status: 0, out: "1 dead letter with 2 spans given up\n", said: "" });
    await collector.close();

    // At rest.
    const listed = await run("dead-letters", file);
    assert.equal(listed.status, 0);
    assert.match(listed.out, new RegExp(`^4  otlp ${sink.url}\n   2 spans, received 20\\S+Z\n   refused 20\\S+Z after 1 attempt, status 400\n   .*status 400.*\n1 dead letter\n$`));
    assert.equal((await run("retry", file, "--export", "another")).status, 1);
    assert.equal((await run("retry", file, "--export", first.export)).status, 0);
    assert.match((await run("dead-letters", file)).out, /; will be tried again\n/);
    collector = await startForwarder(pool, file, to);
    await deadIs(0);
    await collector.close();
    acknowledged.assertAllIn(taken, { but: bad.slice(2, 3) });
    assert.deepEqual(await run("dead-letters", file), { status: 0, out: "0 dead letters\n", said: "" });
  });

  test("help, and mistakes in words", async () => {
    const foreign = join(folder, "notes.txt");
    writeFileSync(foreign, "nothing of the kind, but longer than the head of a database is, which has a hundred bytes to itself and some");
    /** @type {[args: string[], status: number, words: RegExp][]} */
    const CASES = [
      [["dead-letters", "--help"], 0, /^token2text-collector dead-letters: lists .*\n\nUsage:\n[^]*--export NAME[^]*--json[^]*Exit status: 0 /],
      [["retry", "-h"], 0, /^token2text-collector retry: has dead letters tried again/],
      [["give-up", "--help"], 0, /--all[^]*cannot be undone/],
      [["dead-letters"], 2, /name one file, that of --store\n.*--help/],
      [["dead-letters", "a.db", "b.db"], 2, /name one file/],
      [["dead-letters", join(folder, "none.db")], 2, /none\.db: there is no such file/],
      [["dead-letters", foreign], 2, /no store/],
      [["dead-letters", "a.db", "--jsno"], 2, /Unknown option '--jsno'/],
      [["retry", "a.db", "--id", "first"], 2, /an --id is a number of the list/],
      [["give-up", "a.db"], 2, /say which: --id N, --export NAME, or --all/],
      [["give-up", "a.db", "--all", "--id", "1"], 2, /leave --export and --id out/],
    ];
    for (const [[name, ...args], status, words] of CASES) {
      const command = COMMANDS.find((one) => one.name === name) ?? assert.fail(name);
      const done = runCommand(command, args);
      assert.equal(done.status, status, args.join(" "));
      assert.match(done.text, words);
    }
    const mistyped = await run("dead-leters", "a.db");
    assert.deepEqual([mistyped.status, mistyped.out], [2, ""]);
    assert.match(mistyped.said, /dead-leters: what is this for/);
  });
});
