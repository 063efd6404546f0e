/** The client of `collector.mjs`, a process of its own: sends bodies that were made beforehand, and says how long each took. */
import { Agent, request } from "node:http";
import { asOtlp, asProto, chats, longRecord, manyRecords } from "./spans.mjs";

const KIB = 1024;
const DISTINCT = 8;

/** Bodies by name: so many, all of one size. @type {Record<string, (number: number) => Buffer>} */
const BODIES = {
  "1 span of 145 KiB, ids": (number) => asProto(asOtlp([longRecord(145 * KIB, number)])),
  "64 KiB of short spans, ids": (number) => asProto(asOtlp(manyRecords((64 + number) * KIB).slice(number))),
  "64 KiB of short spans, no ids": (number) => asProto(asOtlp(chats((64 + number) * KIB).slice(number))),
  "1 short span, ids": (number) => asProto(asOtlp(manyRecords(KIB).slice(0, 1).map((record) => record.replaceAll("agent_loop", `agent_loop${number}`)))),
};
/** @type {Map<string, Buffer[]>} */
const made = new Map();

/** @param {string} name */
function bodiesOf(name) {
  const bodies = made.get(name) ?? Array.from({ length: DISTINCT }, (_, number) => BODIES[name](number));
  made.set(name, bodies);
  return bodies;
}

/** @typedef {{ url: string, name: string, requests: number, connections: number }} Job */

/** @param {Job} job */
async function run({ url, name, requests, connections }) {
  const bodies = bodiesOf(name);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const target = new URL("/v1/traces", url);
  /** @type {number[]} */
  const millis = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  let next = 0;
  await Promise.all(Array.from({ length: connections }, async () => {
    for (let i = next++; i < requests; i = next++) {
      const from = performance.now();
      const status = await send(agent, target, bodies[i % DISTINCT]);
      if (status !== 200) throw new Error(`${url} answered ${status}`);
      millis.push(performance.now() - from);
    }
  }));
  const { user, system } = process.cpuUsage(cpu);
  agent.destroy();
  return { millis, seconds: (performance.now() - start) / 1000, cpuSeconds: (user + system) / 1e6 };
}

/** @param {Agent} agent @param {URL} target @param {Buffer} body @returns {Promise<number | undefined>} */
function send(agent, target, body) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/x-protobuf", "content-length": body.length };
    const outgoing = request(target, { method: "POST", agent, headers }, (incoming) => {
      incoming.resume();
      incoming.on("end", () => resolve(incoming.statusCode));
    });
    outgoing.on("error", reject).end(body);
  });
}

process.on("message", async (/** @type {Job | { sizes: string }} */ job) => {
  if ("sizes" in job) {
    const { countSpans } = await import("../collector/src/receive/span-count.js");
    const bodies = bodiesOf(job.sizes);
    const spans = bodies.map((body) => countSpans(body, "application/x-protobuf"));
    process.send?.({ spans, bytes: bodies.map(({ length }) => length) });
  } else process.send?.(await run(job));
});
process.send?.("ready");
