/** The backend of `collector.mjs`, a process of its own: takes OTLP in protocol buffers and counts spans. */
import { createServer } from "node:http";
import { gunzipSync } from "node:zlib";
import { countSpans } from "../collector/src/receive/span-count.js";

const TYPE = "application/x-protobuf";
let spans = 0;
let wanted = Infinity;

const server = createServer((incoming, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  incoming.on("data", (chunk) => chunks.push(chunk));
  incoming.on("end", () => {
    const body = incoming.headers["content-encoding"] === "gzip" ? gunzipSync(Buffer.concat(chunks)) : Buffer.concat(chunks);
    response.writeHead(200, { "content-type": TYPE }).end();
    spans += countSpans(body, TYPE);
    if (spans >= wanted) report();
  });
});

function report() {
  process.send?.({ spans });
  wanted = Infinity;
}

// How many spans are waited for.
process.on("message", (/** @type {number} */ number) => {
  spans = 0;
  wanted = number;
});
server.listen(0, "127.0.0.1", () => process.send?.({ port: /** @type {import("node:net").AddressInfo} */ (server.address()).port }));
