/** Workers and the server of the queue that end in the middle of their work: what was acknowledged arrives, and nothing else changes. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { anywhere, startCollector, tokenizerFile } from "./support/collector.js";
import { Command } from "./support/command.js";
import { NatsServer, enriched, freshBody, post, spansOf, until } from "./support/nats.js";
import { Sink } from "./support/sink.js";

const nats = new NatsServer();
const sink = await new Sink().start();
/** @type {Awaited<ReturnType<typeof startCollector>>[]} */
const receivers = [];
const queue = nats.queue({ ackWaitMillis: 1500 });
const option = () => `nats://${nats.address},stream=${queue.options.stream},ack-wait=1500ms`;

before(async () => {
  await nats.start();
  for (let i = 0; i < 2; i++) receivers.push(await startCollector({ tokenizers: [], receive: anywhere, queue: nats.queue(queue.options) }));
});
after(async () => {
  await Promise.all(receivers.map((receiver) => receiver.close()));
  sink.close();
  await nats.dispose();
});
beforeEach(() => {
  sink.answer = { status: 200 };
  sink.seen = [];
});

/** A worker as a process. */
function worker() {
  return new Command(["-t", tokenizerFile, "--workers", "1", "--queue", option(), "--export", `otlp=${sink.url}`]);
}

/** @param {Command[]} workers */
const ready = (workers) => Promise.all(workers.map((one) => one.said(({ msg }) => msg === "the queue is there")));

/** Sends for a while, each request until it is taken, as clients do. @param {number} requests @param {(sent: number) => unknown} [onSent] */
async function load(requests, onSent = () => {}) {
  /** @type {Uint8Array[]} */
  const taken = [];
  await Promise.all(receivers.flatMap(({ urls: [url] }) => Array.from({ length: 4 }, async () => {
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

const messages = () => nats.used(async ({ manager }) => (await manager.streams.info(queue.options.stream)).state.messages);
const arrived = () => spansOf(sink.seen.map(({ body }) => body));

/** Everything that was taken is there, as it would have come without a queue; no dead letters. @param {Uint8Array[]} taken */
async function isThere(taken) {
  await until(async () => (await messages()) === 0, () => `${Object.keys(arrived()).length} of ${taken.length} spans came`);
  assert.deepEqual(arrived(), enriched(taken));
  assert.deepEqual(await nats.messages(`${queue.options.stream}-dead`), []);
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
