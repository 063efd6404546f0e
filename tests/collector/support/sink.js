/** A backend for OTLP that keeps what it gets and answers as it is told: for outcomes that real ones have only when they are ill. */
import { createServer } from "node:http";

/** @typedef {{ status: number, headers?: Record<string, string>, body?: string | Buffer, isCut?: boolean, waitFor?: Promise<unknown> }} SinkAnswer */
/** @typedef {{ path?: string, headers: import("node:http").IncomingHttpHeaders, body: Buffer }} Sunk */

export class Sink {
  /** The same for all, or by the body. @type {SinkAnswer | ((body: Buffer) => SinkAnswer)} */
  answer = { status: 200 };
  /** @type {Sunk[]} */
  seen = [];
  /** Called for each request. */
  onRequest = () => {};
  #server = createServer(async (incoming, response) => {
    const given = Buffer.concat(await incoming.toArray());
    this.seen.push({ path: incoming.url, headers: incoming.headers, body: given });
    this.onRequest();
    const { status, headers, body, isCut, waitFor } = typeof this.answer === "function" ? this.answer(given) : this.answer;
    await waitFor;
    if (isCut) return void incoming.socket.destroy();
    response.writeHead(status, { "content-type": "application/x-protobuf", ...headers }).end(body);
  });

  async start() {
    await new Promise((resolve) => this.#server.listen(0, "127.0.0.1", () => resolve(undefined)));
    return this;
  }

  get url() {
    return `http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (this.#server.address()).port}`;
  }

  /** @param {Record<string, unknown>} [options] @returns {import("../../../collector/src/types.js").ExportTarget} */
  target(options = {}) {
    return { backend: "otlp", url: this.url, options };
  }

  close() {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}
