/** The server of the queue: away, wrong, guarded. What is a mistake is told at the start; what may come is waited for. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { nkeys } from "../../collector/node_modules/@nats-io/transport-node/lib/mod.js";
import { createLog } from "../../collector/src/operations/log.js";
import { namesOf } from "../../collector/src/queue/streams.js";
import { freePort } from "../integration/support/servers.js";
import { anywhere, startCollector, tokenizerFile } from "./support/collector.js";
import { Command } from "./support/command.js";
import { freshFolder } from "./support/folders.js";
import { NatsServer, enriched, freshBody, post, spansOf, until } from "./support/nats.js";
import { Sink } from "./support/sink.js";

/** @typedef {import("../../collector/src/types.js").QueueTarget} QueueTarget */

const folder = freshFolder();
const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
const nats = new NatsServer();
const guarded = new NatsServer(`jetstream { store_dir: jetstream }
authorization { users: [
  { user: all, password: "right" }
  { user: little, password: "right", permissions: { publish: ["_INBOX.>", "$JS.API.INFO"], subscribe: ["_INBOX.>"] } }
] }`);
const encrypted = new NatsServer(`jetstream { store_dir: jetstream }\ntls { cert_file: "${cert}", key_file: "${key}", ca_file: "${cert}", verify: true }`);
const without = new NatsServer("");
const sink = await new Sink().start();

before(async () => {
  const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
  await Promise.all([nats, guarded, encrypted, without].map((server) => server.start()));
});
after(async () => {
  sink.close();
  await Promise.all([nats, guarded, encrypted, without].map((server) => server.dispose()));
});

/** A receiver, and what it logs. @param {QueueTarget} queue */
async function receiver(queue) {
  let text = "";
  const log = createLog("info", { write: (line) => (text += line) });
  const collector = await startCollector({ tokenizers: [], receive: anywhere, admin: anywhere, queue }, log);
  return { ...collector, log: () => text };
}

/** @param {QueueTarget} queue */
async function taken(queue) {
  const { urls: [url], close } = await receiver(queue);
  const { status } = await post(url, freshBody().body);
  await close();
  return status;
}

/** @param {QueueTarget} queue @param {RegExp} words */
const refused = (queue, words) => assert.rejects(receiver(queue), words);

test("a server that is not there yet: 503 and words until it is", async () => {
  const late = new NatsServer();
  await late.start();
  await late.stop();
  const { urls: [url, admin], log, close } = await receiver(late.queue());
  const { status, retryAfter, text } = await post(url, freshBody().body);
  assert.deepEqual([status, retryAfter], [503, "5"]);
  // On a machine that is busy the system may be slow to say that.
  const words = "(nothing listens there|the server does not answer)";
  assert.match(text, new RegExp(`the queue nats://127\\.0\\.0\\.1:\\d+ is away: ${words}`));
  const health = await fetch(`${admin}/health`);
  const { status: told, queue } = await health.json();
  assert.deepEqual([health.status, told, queue.ready], [503, "not ready", false]);
  assert.match(queue.problem, new RegExp(`^${words}$`));
  await late.start();
  await until(async () => (await post(url, freshBody().body)).status === 200);
  assert.equal((await fetch(`${admin}/health`)).status, 200);
  assert.match(log(), /"the queue is away; it is asked again until it is there"[^]*"the queue is there"/);

  // Away again, at once: nobody waits for time limits.
  await late.stop();
  const start = performance.now();
  assert.equal((await post(url, freshBody().body)).status, 503);
  assert.ok(performance.now() - start < 1000);
  await close();
  await late.dispose();
});

test("a worker waits for it, too", async () => {
  const late = new NatsServer();
  await late.start();
  await late.stop();
  const queue = late.queue();
  const worker = await startCollector({ exports: [sink.target()], queue });
  await late.start();
  const { urls: [url], close } = await receiver(queue);
  const { body } = freshBody();
  await post(url, body);
  await until(() => sink.seen.length > 0);
  assert.deepEqual(spansOf(sink.seen.map(({ body }) => body)), enriched([body]));
  await close();
  await worker.close();
  await late.dispose();
});

test("credentials", async () => {
  assert.equal(await taken(guarded.queue({ user: "all", password: "right" })), 200);
  await refused(guarded.queue({ user: "all", password: "wrong" }), /^Error: --queue: nats:\/\/127\.0\.0\.1:\d+: the server does not know these credentials; see user, password-env, token-env and creds$/);
  await refused(guarded.queue(), /does not know these credentials/);
  await refused(guarded.queue({ user: "little", password: "right" }), /Permissions Violation for Publish to "\$JS\.API\.STREAM\.INFO\.tests-/);
});

test("a file of credentials, as nsc writes it", async () => {
  const [operator, system, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createAccount(), nkeys.createUser()];
  const base64 = (/** @type {object} */ value) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const nameOf = (/** @type {any} */ pair) => pair.getPublicKey();
  /** A token of NATS: who signs it says what somebody may. @param {any} by @param {any} of @param {object} claims */
  const signed = (by, of, claims) => {
    const text = `${base64({ typ: "JWT", alg: "ed25519-nkey" })}.${base64({ jti: "1", iat: 1, iss: nameOf(by), name: "tests", sub: nameOf(of), nats: { version: 2, ...claims } })}`;
    return `${text}.${Buffer.from(by.sign(Buffer.from(text))).toString("base64url")}`;
  };
  const all = { conn: -1, subs: -1, data: -1, payload: -1, leaf: -1, imports: -1, exports: -1, wildcards: true, mem_storage: -1, disk_storage: -1, streams: -1, consumer: -1 };
  const ofAccount = (/** @type {any} */ pair, /** @type {object} */ limits) => signed(operator, pair, { type: "account", limits, default_permissions: { pub: {}, sub: {} } });
  const noStreams = { ...all, mem_storage: 0, disk_storage: 0 };
  const creds = join(folder, "user.creds");
  const ofUser = signed(account, user, { type: "user", pub: {}, sub: {}, subs: -1, data: -1, payload: -1 });
  const part = (/** @type {string} */ what, /** @type {string} */ text) => `-----BEGIN ${what}-----\n${text}\n------END ${what}------\n`;
  writeFileSync(creds, part("NATS USER JWT", ofUser) + part("USER NKEY SEED", new TextDecoder().decode(user.getSeed())));
  const server = new NatsServer(`jetstream { store_dir: jetstream }
operator: ${signed(operator, operator, { type: "operator" })}
system_account: ${nameOf(system)}
resolver: MEMORY
resolver_preload: { ${nameOf(system)}: ${ofAccount(system, noStreams)}, ${nameOf(account)}: ${ofAccount(account, all)} }`);
  await server.start();
  assert.equal(await taken(server.queue({ creds })), 200);
  await refused(server.queue(), /does not know these credentials/);
  await server.dispose();
});

test("TLS, with a certificate for either side", async () => {
  const queue = { url: `tls://${encrypted.address}`, options: { stream: "tests" } };
  assert.equal(await taken({ ...queue, options: { ...queue.options, ca: cert, cert, key } }), 200);
  await refused(queue, /its certificate is of an unknown authority; name that by ca=FILE/);
  // One that only speaks plainly.
  await refused({ url: `tls://${nats.address}`, options: { stream: "tests" } }, /the server speaks no TLS; write nats:\/\/ in place of tls:\/\//);
});

test("a server without JetStream", () => refused(without.queue(), /the server has no JetStream; start it with `jetstream \{\}` in its configuration, or with -js/));

test("what is there with other settings is left as it is, and told", async () => {
  const worker = (/** @type {QueueTarget} */ queue) => startCollector({ exports: [sink.target()], queue });
  const made = async (/** @type {object} */ settings, /** @type {object} */ ofConsumer = {}) => {
    const queue = nats.queue();
    const { stream, subject, consumer } = namesOf(queue.options);
    await nats.used(async ({ manager }) => {
      await manager.streams.add({ name: stream, subjects: [subject], retention: "workqueue", discard: "new", ...settings });
      await manager.consumers.add(stream, { durable_name: consumer, ack_policy: "explicit", ...ofConsumer });
    });
    return queue;
  };
  await refused(await made({ retention: "limits" }), /the stream tests-\w+ is there with retention limits, not workqueue \(or each body .*\); change it, or write another stream=NAME/);
  await refused(await made({ discard: "old" }), /discard old, not new \(or bodies would be thrown away to make room\)/);
  await refused(await made({ subjects: ["elsewhere.>"] }), /is there without the subject tests-\w+\.bodies/);
  const one = await made({});
  await refused({ ...one, options: { ...one.options, maxBytes: 1e6 } }, /max_bytes -1, not 1000000 \(that was asked for\)/);
  await assert.rejects(worker(await made({}, { max_deliver: 5 })), /the consumer workers of the stream tests-\w+ is there with max_deliver 5, not -1 \(or bodies would be given up\)/);
  await assert.rejects(worker({ ...one, options: { ...one.options, ackWaitMillis: 5000 } }), /ack_wait 30000000000, not 5000000000/);
  // Other settings are the business of whoever has made them.
  const own = await made({ max_age: 3600e9, max_bytes: 1e9 }, { ack_wait: 60e9 });
  assert.equal(await taken(own), 200);
  await (await worker(own)).close();
});

test("a stream that somebody takes away is made again", async () => {
  const queue = nats.queue();
  const { urls: [url], close } = await receiver(queue);
  assert.equal((await post(url, freshBody().body)).status, 200);
  await nats.used(({ manager }) => manager.streams.delete(queue.options.stream));
  assert.equal((await post(url, freshBody().body)).status, 503);
  assert.equal((await post(url, freshBody().body)).status, 200);
  await close();
});

test("the command says a mistake and ends with 2; a server that is away it waits for", async () => {
  const wrong = new Command(["--receive", "0", "--queue", `nats://${guarded.address},user=all,password-env=WRONG`], { env: { WRONG: "hunter2" } });
  assert.equal(await wrong.ended, 2);
  assert.match(wrong.stderr, /^token2text-collector: --queue: nats:\/\/127\.0\.0\.1:\d+: the server does not know these credentials/);
  assert.doesNotMatch(wrong.stderr, /hunter2/);
  const away = `nats://127.0.0.1:${await freePort()}`;
  const waiting = new Command(["-t", tokenizerFile, "--cache", "none", "--receive", "0", "--export", `otlp=${sink.url}`, "--queue", away]);
  await waiting.said(({ msg, to }) => /^listens/.test(msg) && to === away);
  waiting.signal("SIGTERM");
  assert.equal(await waiting.ended, 0);
});
