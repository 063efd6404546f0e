/** HTTP without a collector behind it, a process of its own: reads bodies and answers, which is the most that one thread of Node can take. */
import { createServer } from "node:http";

const server = createServer((incoming, response) => {
  /** @type {Buffer[]} */
  const chunks = [];
  incoming.on("data", (chunk) => chunks.push(chunk));
  incoming.on("end", () => {
    Buffer.concat(chunks);
    response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
  });
});
server.listen(0, "127.0.0.1", () => process.send?.({ port: /** @type {import("node:net").AddressInfo} */ (server.address()).port }));
