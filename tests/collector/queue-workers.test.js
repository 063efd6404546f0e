/**
 * Workers and the server of the queue that end in the middle of their work: what was acknowledged arrives, and nothing else changes.
 * All are configured as docs/queue.md prints it.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, beforeEach, test } from "node:test";
import { readSections } from "../packaging/support/readme.js";
import { tokenizerFile } from "./support/collector.js";
import { BIN, Command } from "./support/command.js";
import { NatsServer, enriched, freshBody, post, spansOf, until } from "./support/nats.js";
import { Sink } from "./support/sink.js";

const printed = readSections(readFileSync(new URL("../../collector/docs/queue.md", import.meta.url), "utf8")).flatMap(({ blocks }) => blocks);
const lines = printed.filter(({ language }) => language === "sh").flatMap(({ text }) => text.trim().split("\n"));
const settings = printed.find(({ language }) => language === "conf")?.text ?? assert.fail("no configuration is printed");

const nats = new NatsServer(settings.replace(/^listen:.*$/m, "").replace("/var/lib/nats", "jetstream"));
const sink = await new Sink().start();
/** @type {Command[]} */
let receivers = [];
/** @type {string[]} */
let urls = [];

/** A printed command, for this server and sink. @param {RegExp} which */
function command(which) {
  const line = lines.find((line) => which.test(line)) ?? assert.fail(`${which} is not printed`);
  const words = line
    .replace(/--tokenizer \S+/, `--tokenizer ${tokenizerFile} --workers 1`)
    .replace(/--receive \d+/, "--receive 0")
    .replace(/(nats:\S+)(?= --|$)/, `nats://${nats.address}${which === WORKER || which === RECEIVER ? ",ack-wait=1500ms" : ""}`)
    .replace(/otlp=\S+/, `otlp=${sink.url}`);
  return new Command(words.split(" ").slice(1), { command: [process.execPath, BIN] });
}
const STREAM = "token2text";
const RECEIVER = /--receive/;
const WORKER = /--export/;

before(async () => {
  await nats.start();
  receivers = [command(RECEIVER), command(RECEIVER)];
  urls = await Promise.all(receivers.map((receiver) => receiver.url("receive")));
});
after(async () => {
  for (const receiver of receivers) receiver.signal("SIGTERM");
  assert.deepEqual(await Promise.all(receivers.map(({ ended }) => ended)), [0, 0]);
  sink.close();
  await nats.dispose();
});
beforeEach(() => {
  sink.answer = { status: 200 };
  sink.seen = [];
});

/** A worker as a process. */
const worker = () => command(WORKER);

/** @param {Command[]} workers */
const ready = (workers) => Promise.all(workers.map((one) => one.said(({ msg }) => msg === "the queue is there")));

/** Sends for a while, each request until it is taken, as clients do. @param {number} requests @param {(sent: number) => unknown} [onSent] */
async function load(requests, onSent = () => {}) {
  /** @type {Uint8Array[]} */
  const taken = [];
  await Promise.all(urls.flatMap((url) => Array.from({ length: 4 }, async () => {
    while (taken.length < requests) {
      const { body } = freshBody();
      for (let status = 0; status !== 200; ) {
        ({ status } = await post(url, body));
        assert.ok([200, 503].includes(status), String(status));
        if (status !== 200) await new Promise((resolve) => setTimeout(resolve, 100));
      }
      taken.push(body);
      await onSent(taken.length);
    }
  })));
  return taken;
}

/** Bodies that are not settled. The stream may have others after its server was killed. */
const waiting = () => nats.used(async ({ manager }) => {
  const { num_pending: pending, num_ack_pending: underWay } = await manager.consumers.info(STREAM, "workers");
  return pending + underWay;
});
const arrived = () => spansOf(sink.seen.map(({ body }) => body));

/** Everything that was taken is there, as it would have come without a queue; no dead letters. @param {Uint8Array[]} taken */
async function isThere(taken) {
  await until(async () => (await waiting()) === 0, () => `${Object.keys(arrived()).length} of ${taken.length} spans came`);
  assert.deepEqual(arrived(), enriched(taken));
  assert.deepEqual(await nats.messages(`${STREAM}-dead`), []);
}

test("two workers share the work; one is killed under load, and the other has what it had", async () => {
  const workers = [worker(), worker()];
  await ready(workers);
  // The backend is slow, so that some are under way.
  sink.answer = () => ({ status: 200, waitFor: new Promise((resolve) => setTimeout(resolve, 30)) });
  const taken = await load(200, (sent) => void (sent === 100 && workers[0].signal("SIGKILL")));
  assert.equal(await workers[0].ended, "SIGKILL");
  await isThere(taken);

  // A third one comes, and the second ends as asked to: it says so, and leaves nothing behind.
  workers.push(worker());
  await ready(workers.slice(2));
  sink.seen = [];
  const more = await load(100, (sent) => void (sent === 50 && workers[1].signal("SIGTERM")));
  assert.equal(await workers[1].ended, 0);
  await isThere(more);
  workers[2].signal("SIGTERM");
  assert.equal(await workers[2].ended, 0);
});

test("the server of the queue is killed and comes back under load: what it had acknowledged is there", async () => {
  const workers = [worker()];
  await ready(workers);
  const taken = await load(200, async (sent) => {
    if (sent !== 100) return;
    await nats.stop("SIGKILL");
    await nats.start();
  });
  await isThere(taken);
  workers[0].signal("SIGTERM");
  assert.equal(await workers[0].ended, 0);
});

test("the commands for dead letters that are printed", async () => {
  const cases = /** @type {const} */ ([[/dead-letters/, 0, "0 dead letters\n", ""], [/retry/, 1, "", "0 dead letters will be tried again\n"], [/give-up/, 1, "", "0 dead letters with 0 spans given up\n"]]);
  for (const [which, status, stdout, stderr] of cases) {
    const run = command(which);
    assert.deepEqual([await run.ended, run.stdout, run.stderr], [status, stdout, stderr]);
  }
});
