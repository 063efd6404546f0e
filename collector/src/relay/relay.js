/** A listener whose requests go on to one backend, with text put beside the token ids of traces on the way. */
import { once } from "node:events";
import { createServer } from "node:http";
import { isAllowedHost } from "../operations/access.js";
import { createViewer } from "../viewer.js";
import { Conduit, MOST_HEADER_BYTES } from "./conduit.js";
import { Exchange } from "./exchange.js";
import { routeOf } from "./routes.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("../types.js").Listener} Listener */
/** @typedef {import("../types.js").RelayTarget} RelayTarget */
/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */

/** Where the viewer is: no backend has anything there. */
const VIEWER_ROOT = "/token2text/";

/**
 * Starts a relay.
 *
 * @param {Context} context
 * @param {RelayTarget} target
 * @returns {Promise<Listener>}
 * @throws {Error} If it cannot listen there.
 */
export async function startRelay(context, { backend, listen, upstream }) {
  const { configuration, metrics } = context;
  const name = `relay ${backend}`;
  const log = context.log.child({ listener: name });
  const address = { ...listen };
  const viewer = configuration.viewer ? createViewer(configuration, { root: VIEWER_ROOT }) : undefined;
  /** @type {Map<import("node:net").Socket, Conduit>} */
  const conduits = new Map();
  /** Codes of warnings that were told once: one body is seldom alone in it. @type {Set<string>} */
  const told = new Set();

  /** @param {IncomingMessage} request @param {ServerResponse} response */
  const serve = (request, response) => {
    const conduit = conduits.get(request.socket);
    if (!conduit) return void request.socket.destroy();
    const started = performance.now();
    const { method = "GET", url = "/" } = request;
    const path = url.split("?", 1)[0];
    const found = routeOf(backend, method, path);
    const kind = found?.kind ?? "other";
    // Without `enrichReads` a read is one more request that passes.
    const route = kind === "read" && !configuration.enrichReads ? undefined : found;
    metrics.received({ listener: name, kind });
    conduit.run(async () => {
      const refusal = refusalOf(request, address, configuration.access.hosts);
      const exchange = new Exchange({ context, listener: name, upstream, conduit, request, response, route });
      const page = (method === "GET" || method === "HEAD") && path.startsWith(VIEWER_ROOT) ? viewer : undefined;
      const status = refusal ? await refuse(response, refusal) : await (page?.answer(request, response, path) ?? exchange.run());
      const seconds = (performance.now() - started) / 1000;
      metrics.answered({ listener: name, status }, seconds);
      const { outcome, warnings } = exchange.said;
      log.debug({ method, path, kind, status, seconds, outcome, warnings: [...warnings] }, "request");
      for (const code of warnings) {
        if (!told.has(code)) log.warn({ code }, "a body of traces has a warning of token2text, which is told once");
        told.add(code);
      }
    });
  };

  const server = createServer({ maxHeaderSize: MOST_HEADER_BYTES, keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, serve);
  // The backend has its own limits.
  server.timeout = 0;
  server.maxHeadersCount = 0;
  // The backend says whether it wants the body, unless the body is held.
  server.on("checkContinue", serve);
  server.on("checkExpectation", serve);
  server.on("connection", (socket) => {
    conduits.set(socket, new Conduit(socket, upstream));
    socket.once("close", () => conduits.delete(socket));
  });
  server.listen(listen.port, listen.host);
  await once(server, "listening");
  address.port = /** @type {import("node:net").AddressInfo} */ (server.address()).port;
  log.info({ host: address.host, port: address.port, upstream: upstream.host, enrichReads: configuration.enrichReads }, "listening");

  return {
    name,
    address,
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const conduit of conduits.values()) conduit.drain();
      const timer = setTimeout(() => {
        for (const conduit of conduits.values()) conduit.destroy();
      }, configuration.limits.drainMillis);
      await closed;
      clearTimeout(timer);
      log.info("closed");
    },
  };
}

/**
 * Why a request goes nowhere.
 *
 * @param {IncomingMessage} request
 * @param {import("../types.js").Address} address
 * @param {string[]} hosts
 * @returns {{ status: number, message: string } | undefined}
 */
function refusalOf({ url = "", headers }, address, hosts) {
  if (!isAllowedHost(headers.host, address, hosts)) {
    return { status: 403, message: "this relay does not know the name in Host; allow it by --allow-host NAME" };
  }
  if (url.startsWith("/") || url === "*") return undefined;
  return { status: 400, message: "this relay goes to one backend and is no proxy: ask for a path, not for a whole URL" };
}

/** @param {ServerResponse} response @param {{ status: number, message: string }} refusal */
async function refuse(response, { status, message }) {
  const over = Promise.race([once(response, "finish"), once(response, "close")]);
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", connection: "close" }).end(`${message}\n`);
  await over;
  return status;
}
