/** A real nats-server with JetStream, and what its clients other than the collector do. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { jetstream, jetstreamManager } from "../../../collector/node_modules/@nats-io/jetstream/lib/mod.js";
import { connect } from "../../../collector/node_modules/@nats-io/transport-node/lib/mod.js";
import { splitSpans } from "../../../pkg/exporters/otlp-request.js";
import { freshId, request } from "../../integration/support/fixtures.js";
import { Server, freePort } from "../../integration/support/servers.js";
import { enricherOf } from "./bodies.js";

export const PROTOBUF = "application/x-protobuf";
const direct = enricherOf("qwen3");

/** It keeps what it has when it is started again. */
export class NatsServer extends Server {
  #settings;
  #clientPort = 0;

  /** @param {string} [settings] More lines of its configuration. */
  constructor(settings = "jetstream { store_dir: jetstream }") {
    // Its page of health is what says that it is ready.
    super({ name: "nats", command: (port) => ["nats-server", "-c", "nats.conf", "-m", String(port)], health: "/healthz" });
    this.#settings = settings;
  }

  /** @override */
  async start() {
    this.#clientPort ||= await freePort();
    writeFileSync(join(this.folder, "nats.conf"), `host: 127.0.0.1\nport: ${this.#clientPort}\n${this.#settings}\n`);
    return super.start();
  }

  get address() {
    return `127.0.0.1:${this.#clientPort}`;
  }

  /** A queue on it. @param {Partial<import("../../../collector/src/types.js").QueueTarget["options"]>} [options] @returns {import("../../../collector/src/types.js").QueueTarget} */
  queue(options) {
    return { url: `nats://${this.address}`, options: { stream: `tests-${freshId(4)}`, ...options } };
  }

  /** Someone else who uses it. @template Result @param {(tools: { client: any, manager: any }) => Promise<Result>} use @param {object} [options] */
  async used(use, options) {
    const connection = await connect({ servers: this.address, ...options });
    try {
      return await use({ client: jetstream(connection), manager: await jetstreamManager(connection) });
    } finally {
      await connection.close();
    }
  }

  /** All that is in a stream. @param {string} stream @returns {Promise<{ seq: number, data: Uint8Array, header: { get(name: string): string } }[]>} */
  messages(stream) {
    return this.used(async ({ manager }) => {
      const { state } = await manager.streams.info(stream);
      const found = [];
      // An empty one begins at 0.
      for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) found.push(await manager.streams.getMessage(stream, { seq }));
      return found.filter((message) => message !== null);
    });
  }
}

/** A request with a span of its own whose output has ids. @returns {{ id: string, body: Uint8Array }} */
export function freshBody() {
  const id = freshId(8);
  const ids = Array.from(Buffer.from(freshId(8), "hex"), (byte) => 1000 + byte * 100);
  return { id, body: request({ trace: freshId(16), span: id, attributes: { "mlflow.spanOutputs": `{"token_ids":[${ids}]}` } }) };
}

/** The spans of requests as they have to arrive, by their ids. @param {Uint8Array[]} bodies */
export function enriched(bodies) {
  return spansOf(bodies.map((body) => direct.enrichBody(body, { contentType: PROTOBUF, url: "/v1/traces" }).body));
}

/** The spans of requests by their ids; of those that came several times the last. @param {Uint8Array[]} bodies @returns {Record<string, string>} Bytes in base64. */
export function spansOf(bodies) {
  const spans = bodies.flatMap((body) => splitSpans(body));
  return Object.fromEntries(spans.map(({ spanId, bytes }) => [spanId, Buffer.from(bytes).toString("base64")]).sort());
}

/** @param {string} url @param {Uint8Array | string} body @param {Record<string, string>} [headers] */
export async function post(url, body, headers) {
  const answer = await fetch(`${url}/v1/traces`, { method: "POST", headers: { "content-type": PROTOBUF, ...headers }, body: /** @type {any} */ (body) });
  return { status: answer.status, retryAfter: answer.headers.get("retry-after"), text: await answer.text() };
}

/** Waits until something is so. @param {() => unknown} isSo @param {() => string} [what] Says what is instead. */
export async function until(isSo, what = () => "it has not become so", millis = 60_000) {
  for (const deadline = Date.now() + millis; !(await isSo()); ) {
    if (Date.now() > deadline) throw new Error(what());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
