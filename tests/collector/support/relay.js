/** Relays in this process, for tests. */
import { once } from "node:events";
import { createServer } from "node:http";
import { join } from "node:path";
import { DEFAULTS } from "../../../collector/src/configuration/defaults.js";
import { createEnrichments } from "../../../collector/src/enrichment/pool.js";
import { createLog } from "../../../collector/src/operations/log.js";
import { createMetrics } from "../../../collector/src/operations/metrics.js";
import { startRelay } from "../../../collector/src/relay/relay.js";
import { fetchTokenizer } from "../../../scripts/fetch-tokenizer.js";
import { rawBackend } from "./wire.js";

/** @typedef {import("../../../collector/src/types.js").Backend} Backend */
/** @typedef {import("../../../collector/src/types.js").Context} Context */
/** @typedef {import("../../../collector/src/types.js").Configuration} Configuration */

const anywhere = { host: "127.0.0.1", port: 0 };
export const tokenizerFile = join(fetchTokenizer("qwen3"), "tokenizer.json");
/** With Qwen3's tokenizer for every model. @type {Configuration} */
const ASKED = { ...DEFAULTS, tokenizers: [{ pattern: "*", file: tokenizerFile }], workers: 1 };

/**
 * What relays are given; to be closed.
 *
 * @param {Partial<Configuration>} [more]
 * @param {import("../../../collector/src/types.js").Enrichments} [enrichments] Default: a pool of one worker.
 * @returns {Promise<Context & { close(): Promise<void> }>}
 */
export async function relayContext(more = {}, enrichments) {
  const configuration = { ...ASKED, ...more };
  const log = createLog("silent");
  const pool = enrichments ?? (await createEnrichments(configuration, log));
  return { configuration, enrichments: pool, metrics: createMetrics(), log, close: () => pool.close() };
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
 * @param {Parameters<typeof rawBackend>[1]} [more]
 * @param {string} [path] Of the upstream.
 */
export async function relayed(t, context, answer, more, path = "") {
  const backend = await rawBackend(answer, more);
  const relay = await relayTo(context, "mlflow", backend.url + path);
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
