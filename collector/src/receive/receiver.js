/** The receiver of OTLP over HTTP: what it takes, and what it answers. */
import Fastify from "fastify";
import { guard } from "../operations/access.js";
import { JSON_TYPE, errorAnswer, successAnswer } from "./answers.js";
import { passing } from "./passing.js";
import { PATH } from "./path.js";
import { createOnePort } from "./port.js";
import { addReads } from "./reads.js";
import { NO_GRPC, Refusal } from "./refusal.js";
import { encodingOf, isGrpc, receive } from "./request.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("fastify").FastifyReply} Reply */
/** @typedef {import("fastify").FastifyRequest} Request */

/**
 * What becomes of a body that was received.
 *
 * @typedef {object} Taking
 * @property {(body: Buffer, contentType: string) => Promise<import("./answers.js").PartialSuccess | undefined>} take
 *   Rejected with a Refusal.
 * @property {() => Promise<void>} close
 */

const NAME = "receive";
const LISTENER = { listener: NAME };
/** Of the other signals. */
const OTHER_SIGNALS = ["/v1/metrics", "/v1/logs"];

/**
 * @param {Context} context
 * @param {import("../types.js").Address} address
 * @returns {Promise<import("../types.js").Listener>}
 */
export async function startReceiver(context, address) {
  const { configuration, metrics, log, store, queue } = context;
  const keeper = store ?? queue;
  const taking = keeper ? keeping(keeper) : passing(context);
  const app = Fastify({ logger: false, serverFactory: createOnePort });
  // Bodies are read by the handler, within limits of its own.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, payload, done) => done(null, payload));

  app.addHook("onRequest", async (request) => {
    metrics.received({ ...LISTENER, kind: kindOf(request) });
  });
  let isClosing = false;
  app.addHook("onSend", async (_request, reply) => {
    // Or the connection would be kept open for a next request.
    if (isClosing) reply.header("connection", "close");
  });
  app.addHook("onResponse", async (_request, reply) => {
    metrics.answered({ ...LISTENER, status: reply.statusCode }, reply.elapsedTime / 1000);
  });
  app.setErrorHandler((/** @type {Error & { statusCode?: number, headers?: Record<string, string> }} */ error, request, reply) => {
    const { statusCode = 500, message, headers = {} } = error;
    if (!(error instanceof Refusal) && statusCode >= 500) log.error({ err: error }, "a request failed");
    // What is left of the body is read and thrown away, so that the client can read the answer.
    request.raw.resume();
    return refuse(request, reply.headers(headers), statusCode, message);
  });
  app.setNotFoundHandler((request, reply) => {
    request.raw.resume();
    const path = pathOf(request);
    if (isGrpc(request.headers["content-type"])) return refuse(request, reply, 415, NO_GRPC);
    if (path === PATH) return refuse(request, reply.header("allow", "POST"), 405, `${request.method} is not allowed here; POST traces`);
    const cure = OTHER_SIGNALS.includes(path) ? "only traces are received: set OTEL_METRICS_EXPORTER=none and OTEL_LOGS_EXPORTER=none" : `POST traces to ${PATH}`;
    return refuse(request, reply, 404, `this is a receiver of OTLP; ${cure}`);
  });
  await guard(app, address, configuration.access);

  app.post(PATH, async (request, reply) => {
    const { body, contentType, release } = await receive(context, request.raw);
    try {
      const { type, body: answer } = successAnswer(contentType, await taking.take(body, contentType));
      return await reply.type(type).send(answer);
    } finally {
      release();
    }
  });

  const endReads = store && addReads(app, context, store);

  await app.listen(address);
  const { port } = /** @type {import("node:net").AddressInfo} */ (app.server.address());
  const close = async () => {
    isClosing = true;
    endReads?.();
    await app.close();
    await taking.close();
  };
  return { name: NAME, address: { host: address.host, port }, close };
}

/** @param {Request} request @param {Reply} reply @param {number} status @param {string} message */
function refuse({ headers }, reply, status, message) {
  const { type, body } = errorAnswer(encodingOf(headers["content-type"]) ?? JSON_TYPE, status, message);
  return reply.code(status).type(type).send(body);
}

/** @param {Request} request */
function kindOf(request) {
  const path = pathOf(request);
  if (request.method === "POST") return path === PATH ? "write" : "other";
  return path === PATH || path.startsWith(`${PATH}/`) ? "read" : "other";
}

/** @param {Request} request */
function pathOf({ url }) {
  return url.split("?", 1)[0];
}

/**
 * The way of a body with a store or a queue: answered for when it is there.
 *
 * @param {{ add: (body: Uint8Array, contentType: string, isGiven: boolean) => Promise<unknown> }} keeper
 * @returns {Taking}
 */
export function keeping(keeper) {
  return {
    async take(body, contentType) {
      if (body.length > 0) await keeper.add(body, contentType, true);
      return undefined;
    },
    close: async () => {},
  };
}
