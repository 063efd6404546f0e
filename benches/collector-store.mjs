/**
 * How much a receiver with a store takes, beside better-sqlite3 alone that commits the same bodies with the same pragmas, and beside
 * `node:http` alone that reads them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ROOT, answerOf, collector, cpuSeconds, freePort, start } from "./collector-processes.mjs";
import { median, row } from "./lib.mjs";

/** @typedef {import("node:child_process").ChildProcess} Child */
/** @typedef {import("./collector-load.mjs").Job} Job */
/** @typedef {{ millis: number[], seconds: number, cpuSeconds: number }} Loaded */

const LEAST = 0.6;
/** Many, as the workers of a training run are: what they send at once is one commit. */
const CONNECTIONS = 64;
/** Of a round: so many that the index of traces, which is written a segment at a time, is in it. */
const REQUESTS = 8000;

/**
 * Alone, SQLite commits in groups as large as the collector's were in that round, and then one body at a time.
 *
 * @param {object} how
 * @param {Child} how.load
 * @param {(job: Job) => Promise<Loaded>} how.loaded
 * @param {string[]} how.names Of bodies.
 * @param {number} how.rounds
 * @param {boolean} how.isQuick
 */
export async function compareStore({ load, loaded, names, rounds, isQuick }) {
  // On the disk that the checkout is on: a temporary folder may be in memory.
  const folder = mkdtempSync(join(ROOT, "target/store-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const alone = start("./collector-alone.mjs");
  await answerOf(alone);
  const httpUrl = `http://127.0.0.1:${(await answerOf(start("./collector-http.mjs"))).port}`;
  console.log(row(["bodies a second, committed", "KiB", "collector", "bodies a commit", "SQLite alone, one a commit", "ratio", `at least ${LEAST}x`, "SQLite alone, so many a commit", "ratio", `at least ${LEAST}x`, "node:http alone", "ratio", "CPU ms a body", "client's CPU"]));
  console.log(row(Array(14).fill("---")));
  for (const [i, name] of names.entries()) {
    load.send({ sizes: name });
    const { bytes } = await answerOf(load);
    const requests = Math.ceil(Math.min(REQUESTS, (REQUESTS * 16_384) / median(bytes)) / (isQuick ? 4 : 1));
    const port = await freePort();
    const admin = `http://127.0.0.1:${port}`;
    const { url, child } = await collector(["--receive", "PORT", "--admin", String(port), "--store", join(folder, `${i}.db`), "--store-size", "100GiB"]);
    /** @type {Record<"collector" | "size" | "grouped" | "single" | "http" | "own" | "client", number[]>} */
    const found = { collector: [], size: [], grouped: [], single: [], http: [], own: [], client: [] };
    for (let round = -1; round < rounds; round++) {
      const before = { cpu: cpuSeconds(child), ...(await counted(admin)) };
      const job = { path: "/v1/traces", name, requests, connections: CONNECTIONS };
      const { seconds, cpuSeconds: client } = await loaded({ url, ...job });
      const after = { cpu: cpuSeconds(child), ...(await counted(admin)) };
      const size = (after.bodies - before.bodies) / (after.commits - before.commits);
      const rates = [];
      for (const group of [Math.max(1, Math.round(size)), 1]) {
        const file = join(folder, `alone-${i}-${round}-${group}.db`);
        alone.send({ file, name, bodies: requests, group });
        rates.push((await answerOf(alone)).rate);
        rmSync(file, { force: true });
      }
      const answered = requests / (await loaded({ url: httpUrl, ...job })).seconds;
      if (round < 0) continue;
      const measured = { collector: requests / seconds, size, grouped: rates[0], single: rates[1], http: answered, own: ((after.cpu - before.cpu) * 1000) / requests, client: client / seconds };
      for (const [what, value] of Object.entries(measured)) found[/** @type {keyof typeof found} */ (what)].push(value);
    }
    child.kill();
    const of = (/** @type {keyof typeof found} */ what) => median(found[what]);
    const [ours, grouped, single, http] = [of("collector"), of("grouped"), of("single"), of("http")];
    const beside = (/** @type {number} */ alone) => [Math.round(alone), `${(ours / alone).toFixed(2)}x`, ours >= LEAST * alone ? "ok" : "missed"];
    const cells = [name, Math.round(median(bytes) / 1024), Math.round(ours), of("size").toFixed(1), ...beside(single), ...beside(grouped)];
    console.log(row([...cells, Math.round(http), `${(ours / http).toFixed(2)}x`, of("own").toFixed(2), `${Math.round(of("client") * 100)} %`]));
  }
}

/** What the collector has stored, in how many transactions. @param {string} admin */
async function counted(admin) {
  const text = await (await fetch(`${admin}/metrics`)).text();
  const number = (/** @type {string} */ name) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1]);
  return { bodies: number("token2text_stored_bodies_total"), commits: number("token2text_store_seconds_count") };
}
