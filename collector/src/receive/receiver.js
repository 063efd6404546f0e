/**
 * The receiver of OTLP over HTTP: what arrives is enriched, sent to every export, and answered when all of them have answered; or put
 * into the queue, and answered when it is there.
 */
import Fastify from "fastify";
import { guard } from "../operations/access.js";
import { JSON_TYPE, errorAnswer, successAnswer } from "./answers.js";
import { createPassing } from "./passing.js";
import { PATH } from "./path.js";
import { createOnePort } from "./port.js";
import { NO_GRPC, Refusal } from "./refusal.js";
import { encodingOf, isGrpc, receive } from "./request.js";
import { countSpans, isEmpty } from "./span-count.js";
import { verdict } from "./verdict.js";

/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("fastify").FastifyReply} Reply */
/** @typedef {import("fastify").FastifyRequest} Request */

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
  const { configuration, metrics, log, queue } = context;
  const passing = queue ? undefined : createPassing(context, NAME);
  const app = Fastify({ logger: false, serverFactory: createOnePort });
  // Bodies are read by the handler, within limits of its own.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, payload, done) => done(null, payload));

  app.addHook("onRequest", async (request) => {
    const isTraces = request.method === "POST" && pathOf(request) === PATH;
    metrics.received({ ...LISTENER, kind: isTraces ? "write" : "other" });
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
      const { type, body: answer } = successAnswer(contentType, await answerTo(body, contentType));
      return await reply.type(type).send(answer);
    } finally {
      release();
    }
  });

  /** @param {Buffer} body @param {string} contentType */
  async function answerTo(body, contentType) {
    if (isEmpty(body, contentType)) return undefined;
    const count = () => countSpans(body, contentType);
    if (!passing) {
      // Nobody tells the client later what was wrong with it.
      count();
      return void (await queue?.add({ body, contentType }));
    }
    const { results, warnings } = await passing.pass({ body, contentType });
    return verdict(results, count, warnings);
  }

  await app.listen(address);
  const { port } = /** @type {import("node:net").AddressInfo} */ (app.server.address());
  const close = async () => {
    isClosing = true;
    await app.close();
    await passing?.close();
  };
  return { name: NAME, address: { host: address.host, port }, close };
}

/** @param {Request} request @param {Reply} reply @param {number} status @param {string} message */
function refuse({ headers }, reply, status, message) {
  const { type, body } = errorAnswer(encodingOf(headers["content-type"]) ?? JSON_TYPE, status, message);
  return reply.code(status).type(type).send(body);
}

/** @param {Request} request */
function pathOf({ url }) {
  return url.split("?", 1)[0];
}
