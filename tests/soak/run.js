/**
 * The collector for a long time, with a store and a backend that is ill now and then; then killed again and again. Fails if a span that was
 * acknowledged is lost, doubled or changed, or if the collector's memory grows.
 *
 *   make soak
 *   SOAK_SECONDS=120 SOAK_KILLS=20 make soak
 *   SOAK_SPANS_PER_SECOND=2000    how many spans are sent
 *
 * What is sent again after a kill may come twice, for a backend knows spans by their ids; it is counted.
 */
import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { freePort } from "../integration/support/servers.js";
import { tokenizerFile } from "../collector/support/collector.js";
import { BIN, Command } from "../collector/support/command.js";
import { Load } from "./load.js";

/** @typedef {import("./sink.js").Taken} Taken */

const SECONDS = Number(process.env.SOAK_SECONDS ?? 600);
const KILLS = Number(process.env.SOAK_KILLS ?? 100);
const SPANS_PER_SECOND = Number(process.env.SOAK_SPANS_PER_SECOND ?? 2000);
/** Illnesses of the backend and how long each lasts, in parts of a round. @type {[import("./sink.js").Illness, number][]} */
const ROUND = [["none", 5], ["down", 2], ["none", 3], ["429", 2], ["none", 3], ["500", 2], ["none", 3], ["slow", 4]];
const ROUND_PARTS = ROUND.reduce((sum, [, parts]) => sum + parts, 0);
/** For this share of the time it is down at once: two minutes of ten, as long as a backend takes that is restarted. */
const LONG_DOWN = 0.2;
/** A backend that answers 500 for longer than it is given up on would rightly get dead letters. */
const PART_SECONDS = Math.min(3, SECONDS / 2 / ROUND_PARTS);
/** More than comes while the backend is down, far less than all that is sent, so that what is settled is pruned. */
const STORE_SIZE = "192MiB";
const CATCH_UP_SECONDS = 180;
/** The last third of the time beside the second. */
const MOST_GROWTH = 1.1;

const folder = mkdtempSync(join(tmpdir(), "token2text-soak-"));
const sink = fork(fileURLToPath(new URL("./sink.js", import.meta.url)));
process.on("exit", () => {
  sink.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});
const [{ port: sinkPort }] = await once(sink, "message");
const port = await freePort();
const url = `http://127.0.0.1:${port}`;
/** @type {string[]} */
const wrong = [];

let collector = await start();
const load = new Load(url, SPANS_PER_SECOND);
const memory = await withIllnesses();
await load.finish();
await everythingArrives(load.acknowledged);
const { doubled } = await sinkSays();
if (doubled > 0) wrong.push(`${doubled} spans were sent twice though the collector was not killed`);
judgeMemory();

say(`${KILLS} kills`);
const afterKills = new Load(url, SPANS_PER_SECOND / 4, load.next);
for (let kill = 1; kill <= KILLS; kill++) {
  await sleep(100 + Math.random() * 900);
  collector.signal("SIGKILL");
  await collector.ended;
  collector = await start();
  if (kill % 10 === 0) say(`killed ${kill} times, ${afterKills.acknowledged} spans acknowledged meanwhile`);
}
await afterKills.finish();
await everythingArrives(load.acknowledged + afterKills.acknowledged);
const last = await sinkSays();
say(`${last.doubled - doubled} of ${afterKills.acknowledged} spans came again after kills; clients sent ${afterKills.again} requests again`);
if (last.changed > 0) wrong.push(`${last.changed} spans were changed`);
collector.signal("SIGTERM");
if ((await collector.ended) !== 0) wrong.push("the collector did not stop as it should");
const letters = spawnSync(process.execPath, [BIN, "dead-letters", join(folder, "soak.db"), "--json"], { encoding: "utf8" });
if (letters.stdout.trim() !== "[]") wrong.push(`there are dead letters: ${letters.stdout.slice(0, 1000)}${letters.stderr}`);

for (const line of wrong) say(`wrong: ${line}`);
say(wrong.length === 0 ? `ok: ${last.distinct} spans, none lost, none changed` : "failed");
process.exit(wrong.length === 0 ? 0 : 1);

/** The real command, when it listens. */
async function start() {
  const where = ["--receive", String(port), "--store", join(folder, "soak.db"), "--store-size", STORE_SIZE, "--export", `otlp=http://127.0.0.1:${sinkPort}`];
  const command = new Command(["--tokenizer", tokenizerFile, "--cache", join(folder, "cache"), ...where]);
  await command.url("receive");
  return command;
}

/** Lets the sink be ill, round by round. @returns {Promise<number[]>} The memory of the collector in bytes, each second. */
async function withIllnesses() {
  /** @type {number[]} */
  const samples = [];
  const end = performance.now() + SECONDS * 1000;
  const timer = setInterval(() => samples.push(residentBytes()), 1000);
  await sinkSays("down");
  await sleep(LONG_DOWN * SECONDS * 1000);
  say(`${load.acknowledged} spans acknowledged while the backend was down for ${Math.round(LONG_DOWN * SECONDS)} s`);
  for (let round = 1; performance.now() < end; round++) {
    for (const [illness, parts] of ROUND) {
      if (performance.now() > end) break;
      await sinkSays(illness);
      await sleep(parts * PART_SECONDS * 1000);
    }
    const { distinct, changed, requests } = await sinkSays("none");
    say(`round ${round}: ${load.acknowledged} spans acknowledged, ${distinct} arrived in ${requests} requests, ${changed} changed, ${mib(residentBytes())} MiB`);
  }
  clearInterval(timer);
  return samples;
}

/** @param {number} acknowledged */
async function everythingArrives(acknowledged) {
  const start = performance.now();
  let said = await sinkSays();
  while (said.distinct < acknowledged && performance.now() - start < CATCH_UP_SECONDS * 1000) {
    await sleep(200);
    said = await sinkSays();
  }
  say(`${acknowledged} spans acknowledged, ${said.distinct} arrived, the last ones ${((performance.now() - start) / 1000).toFixed(1)} s later`);
  if (said.distinct !== acknowledged) wrong.push(`${acknowledged} spans were acknowledged, ${said.distinct} arrived`);
}

/** What the sink has taken. @param {import("./sink.js").Illness} [become] @returns {Promise<Taken>} */
async function sinkSays(become) {
  sink.send({ become });
  const [taken] = await once(sink, "message");
  return taken;
}

function judgeMemory() {
  const [, second, third] = [0, 1, 2].map((part) => mean(memory.slice((part * memory.length) / 3, ((part + 1) * memory.length) / 3)));
  const growth = third / second;
  say(`memory: ${mib(second)} MiB in the second third, ${mib(third)} in the last: ${growth.toFixed(3)} times; ${mib(Math.max(...memory))} at most`);
  if (growth > MOST_GROWTH) wrong.push(`memory grew ${growth.toFixed(3)} times`);
}

function residentBytes() {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${collector.pid}/status`, "utf8")) ?? [];
  return Number(kib) * 1024;
}

/** @param {number[]} values */
function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @param {number} bytes */
function mib(bytes) {
  return (bytes / (1 << 20)).toFixed(0);
}

/** @param {string} line */
function say(line) {
  console.log(`${new Date().toISOString().slice(11, 19)} ${line}`);
}
