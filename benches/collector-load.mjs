/** The client of `collector.mjs`, a process of its own: sends bodies that were made beforehand, and says how long each took. */
import { Agent, request } from "node:http";
import { bodiesOf, distinct } from "./collector-bodies.mjs";

/** `areDistinct`: no two bodies are the same. @typedef {{ url: string, path: string, name: string, requests: number, connections: number, areDistinct?: boolean }} Job */

/** @param {Job} job */
async function run({ url, path, name, requests, connections, areDistinct = false }) {
  const bodies = areDistinct ? distinct(bodiesOf(name), requests) : bodiesOf(name);
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const target = new URL(path, url);
  /** @type {number[]} */
  const millis = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  let next = 0;
  await Promise.all(Array.from({ length: connections }, async () => {
    for (let i = next++; i < requests; i = next++) {
      const from = performance.now();
      const status = await send(agent, target, bodies[i % bodies.length]);
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
