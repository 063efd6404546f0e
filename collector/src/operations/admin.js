/** The listener for those who run the collector: `/health` and `/metrics`. */
import { readFileSync } from "node:fs";
import Fastify from "fastify";
import { guard } from "./access.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("../types.js").Listener} Listener */

const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));

/**
 * @param {Context} context
 * @param {import("../types.js").Address} address
 * @param {Listener[]} listeners Those that `/health` names.
 * @returns {Promise<Listener>}
 */
export async function startAdmin({ configuration, enrichments, metrics, store, forwarding }, address, listeners = []) {
  // Whoever scrapes keeps its connections open; they are no work that is under way.
  const app = Fastify({ logger: false, forceCloseConnections: true });
  app.setErrorHandler((error, _request, reply) => {
    const { statusCode = 500, message } = /** @type {import("fastify").FastifyError} */ (error);
    reply.code(statusCode).send({ error: message });
  });
  app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: "here are /health and /metrics" }));
  await guard(app, address, configuration.access);

  app.get("/health", async (_request, reply) => {
    const { ready, workers, tokenizers } = enrichments.health();
    const facts = await store?.facts();
    const status = !ready ? "not ready" : facts?.refusing === undefined ? "ok" : "refusing";
    reply.code(status === "ok" ? 200 : 503).header("cache-control", "no-store");
    const places = listeners.map(({ name, address }) => ({ name, ...address }));
    return { status, version, workers, tokenizers, listeners: places, store: facts, exports: forwarding?.health() };
  });
  app.get("/metrics", async (_request, reply) => {
    const text = await metrics.text(enrichments.health(), await store?.facts());
    return reply.type(metrics.contentType).send(text);
  });

  await app.listen(address);
  const { port } = /** @type {import("node:net").AddressInfo} */ (app.server.address());
  return { name: "admin", address: { host: address.host, port }, close: () => app.close() };
}
