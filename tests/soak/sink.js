/** The backend of the soak, a process of its own: takes OTLP, counts every span, and is ill as it is told. */
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { Reader } from "./spans.js";

/** @typedef {"none" | "down" | "429" | "500" | "slow"} Illness */
/** What it has taken. `doubled`: came again after it was taken. @typedef {{ distinct: number, doubled: number, changed: number, requests: number }} Taken */

const SLOW_MILLIS = 300;
const reader = new Reader();
/** How often each number came. */
let counts = new Uint8Array(1 << 20);
/** @type {Taken} */
const taken = { distinct: 0, doubled: 0, changed: 0, requests: 0 };
/** @type {Illness} */
let illness = "none";
let port = 0;

const server = createServer(async (incoming, response) => {
  const body = Buffer.concat(await incoming.toArray().catch(() => []));
  // A connection that had an answer under way when it was told to be down.
  if (illness === "down") return void incoming.socket.destroy();
  if (illness === "429") return void response.writeHead(429, { "retry-after": "1" }).end();
  if (illness === "500") return void response.writeHead(500).end("the disk is full");
  if (illness === "slow") await sleep(SLOW_MILLIS);
  take(body);
  response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
});

/** @param {Buffer} body */
function take(body) {
  taken.requests++;
  for (const { number, isGood } of reader.read(body)) {
    if (!isGood) taken.changed++;
    if (number >= counts.length) counts = grown(counts, number);
    if (counts[number] === 0) taken.distinct++;
    else taken.doubled++;
    counts[number] = 1;
  }
}

/** @param {Uint8Array} old @param {number} number */
function grown(old, number) {
  const larger = new Uint8Array(2 ** Math.ceil(Math.log2(number + 1)));
  larger.set(old);
  return larger;
}

/** @param {Illness} next */
async function become(next) {
  const wasDown = illness === "down";
  illness = next;
  if (next === "down") {
    // What was taken is answered: nobody may have to send it again.
    await new Promise((resolve) => server.close(resolve));
  } else if (wasDown) {
    await listen();
  }
}

async function listen() {
  await new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(undefined)));
  port = /** @type {import("node:net").AddressInfo} */ (server.address()).port;
}

process.on("message", async (/** @type {{ become?: Illness }} */ { become: next }) => {
  if (next) await become(next);
  process.send?.(taken);
});
await listen();
process.send?.({ port });
