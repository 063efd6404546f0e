/** Relays in this process, for tests. */
import { once } from "node:events";
import { createServer } from "node:http";
import { createEnrichments } from "../../../collector/src/enrichment/pool.js";
import { createLog } from "../../../collector/src/operations/log.js";
import { createMetrics } from "../../../collector/src/operations/metrics.js";
import { startRelay } from "../../../collector/src/relay/relay.js";
import { anywhere, configuration } from "./collector.js";
import { rawBackend } from "./wire.js";

/** @typedef {import("../../../collector/src/types.js").Backend} Backend */
/** @typedef {import("../../../collector/src/types.js").Context} Context */
/** @typedef {import("../../../collector/src/types.js").Configuration} Configuration */

/**
 * What relays are given; to be closed.
 *
 * @param {Partial<Configuration>} [more]
 * @param {import("../../../collector/src/types.js").Enrichments} [enrichments] Default: a pool of one worker.
 * @returns {Promise<Context & { close(): Promise<void> }>}
 */
export async function relayContext(more = {}, enrichments) {
  const asked = configuration(more);
  const log = createLog("silent");
  const pool = enrichments ?? (await createEnrichments(asked, log));
  return { configuration: asked, enrichments: pool, metrics: createMetrics(), log, close: () => pool.close() };
}

/**
 * A relay on a free port.
 *
 * @param {Context} context
 * @param {Backend} backend
 * @param {string} upstream
 */
export async function relayTo(context, backend, upstream) {
  const listener = await startRelay(context, { backend, listen: anywhere, upstream: new URL(upstream) });
  const { port } = listener.address;
  return { ...listener, url: `http://127.0.0.1:${port}`, port };
}

/**
 * A backend on a socket, and a relay to it, for one test.
 *
 * @param {import("node:test").TestContext} t
 * @param {Context} context
 * @param {Parameters<typeof rawBackend>[0]} answer
 * @param {{ onHead?: (socket: import("node:net").Socket) => void, backend?: Backend, path?: string }} [more] `path`: of the upstream.
 */
export async function relayed(t, context, answer, { onHead, backend: kind = "mlflow", path = "" } = {}) {
  const backend = await rawBackend(answer, { onHead });
  const relay = await relayTo(context, kind, backend.url + path);
  t.after(async () => {
    backend.close();
    await relay.close();
  });
  return { backend, relay };
}

/** A backend that keeps the last request, and answers everything with one answer; both may be set. */
export async function keepingBackend() {
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk)).on("end", () => {
      keeper.got = { headers: request.rawHeaders, body: Buffer.concat(chunks), method: request.method ?? "", url: request.url ?? "" };
      response.writeHead(keeper.answer.status, keeper.answer.headers).end(keeper.answer.body);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const keeper = {
    url: `http://127.0.0.1:${port}`,
    /** @type {{ headers: string[], body: Buffer, method: string, url: string }} */
    got: { headers: [], body: Buffer.alloc(0), method: "", url: "" },
    /** @type {{ status: number, headers: string[], body: Buffer }} */
    answer: { status: 200, headers: [], body: Buffer.alloc(0) },
    close: () => void server.close(),
  };
  return keeper;
}

/**
 * The value of a counter in the text of /metrics; 0 if it was never counted.
 *
 * @param {Context} context
 * @param {string} name
 * @param {string} labels As they stand in the text.
 */
export async function count({ metrics }, name, labels) {
  const line = (await metrics.text()).split("\n").find((line) => line.startsWith(`${name}{${labels}}`) || (labels === "" && line.startsWith(`${name} `)));
  return Number(line?.split(" ").at(-1) ?? 0);
}
