/**
 * Who may call a listener. A page of another site can make a browser send requests to this machine; it cannot choose their
 * `Host` (a name of its own that resolves to this machine, "DNS rebinding") nor their `Origin`. So both are looked at.
 */
import { isIP, isIPv4 } from "node:net";
import bearerAuth from "@fastify/bearer-auth";
import cors from "@fastify/cors";

/** @typedef {import("../types.js").Address} Address */
/** @typedef {import("../types.js").Configuration["access"]} Access */

/** Addresses of a listener that takes every interface of the machine. */
const WILDCARDS = ["0.0.0.0", "::"];

/** A request that is refused, as fastify's error handlers take it. */
export class AccessError extends Error {
  /** @param {401 | 403} statusCode @param {string} message */
  constructor(statusCode, message) {
    super(message);
    this.name = "AccessError";
    this.statusCode = statusCode;
  }
}

/**
 * Whether only this machine reaches a host of that name or address.
 *
 * @param {string} host Without a port; IPv6 without brackets.
 * @example
 *   isLoopback("localhost"); // true
 */
export function isLoopback(host) {
  const name = host.toLowerCase();
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || (isIPv4(name) && name.startsWith("127."));
}

/** Whether an address takes every interface of the machine. @param {string} host */
export function isWildcard(host) {
  return WILDCARDS.includes(host);
}

/**
 * Whether a request was addressed to a name of this listener, in its header `Host`. The port does not count, for it changes where
 * ports are forwarded. A listener on every interface takes every IP address, since names are what rebinding needs. Without `Host`,
 * as HTTP/1.0 allows, no browser has sent the request.
 *
 * @param {string | undefined} host The header as it came.
 * @param {Address} address Of the listener.
 * @param {string[]} hosts Further names, without ports, in lower case.
 * @example
 *   isAllowedHost("localhost:5001", { host: "127.0.0.1", port: 5001 }, []); // true
 *   isAllowedHost("rebound.example", { host: "127.0.0.1", port: 5001 }, []); // false
 */
export function isAllowedHost(host, address, hosts) {
  if (host === undefined) return true;
  const name = hostName(host);
  if (name === undefined) return false;
  if (isLoopback(name) || name === address.host.toLowerCase() || hosts.includes(name)) return true;
  return isWildcard(address.host) && isIP(name) !== 0;
}

/** The name in `name`, `name:port`, `[::1]:port`; nothing if it is none of these. @param {string} host */
function hostName(host) {
  const found = /^(?:\[([\da-f:.]+)\]|([^\s:/?#@[\]]+?)\.?)(?::\d*)?$/i.exec(host);
  return (found?.[1] ?? found?.[2])?.toLowerCase();
}

/**
 * Whether a page of that origin may call: pages that the listener itself is addressed as, and those that are listed.
 *
 * @param {string | undefined} origin The header as it came; only browsers send it.
 * @param {string | undefined} host The header `Host` of the same request.
 * @param {string[]} origins As browsers write them, or `*` for all.
 * @example
 *   isAllowedOrigin("https://traces.example", "127.0.0.1:4318", ["https://traces.example"]); // true
 */
export function isAllowedOrigin(origin, host, origins) {
  if (origin === undefined || origins.includes("*") || origins.includes(origin)) return true;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}

/**
 * Guards all routes of a listener: `Host`, `Origin`, CORS with its preflights, and the bearer token if there is one, which browsers give
 * as the password that they ask for. To be called before the routes are declared. What is refused ends in the error handler, with the `statusCode` 401 or 403.
 *
 * @param {import("fastify").FastifyInstance} app
 * @param {Address} address
 * @param {Access} access
 */
export async function guard(app, address, { token, hosts, origins }) {
  app.addHook("onRequest", async ({ headers: { host, origin } }) => {
    if (!isAllowedHost(host, address, hosts)) {
      throw new AccessError(403, `this listener does not know the name in Host; allow it by --allow-host NAME`);
    }
    if (!isAllowedOrigin(origin, host, origins)) {
      throw new AccessError(403, `pages of this Origin may not call; allow them by --allow-origin ORIGIN`);
    }
  });
  // Without an origin that may, nothing answers preflights, and browsers refuse by themselves.
  if (origins.length > 0) await app.register(cors, { origin: origins, methods: ["GET", "HEAD", "POST"], exposedHeaders: ["token2text-missing"], maxAge: 600 });
  if (token === undefined) return;
  // As RFC 9110 has it, the name of the scheme may be spelled in any case.
  await app.register(bearerAuth, { keys: [token], addHook: false, specCompliance: "rfc6749", verifyErrorLogLevel: "debug" });
  app.addHook("onRequest", (request, reply, done) => {
    const { verifyBearerAuth } = app;
    const { headers } = request;
    headers.authorization = asBearer(headers.authorization);
    verifyBearerAuth?.(request, reply, (error) => {
      if (error === undefined) return done();
      reply.header("www-authenticate", ['Bearer realm="token2text"', 'Basic realm="token2text", charset="UTF-8"']);
      done(new AccessError(401, "a token is needed here: Authorization: Bearer TOKEN, with the TOKEN of --token"));
    });
  });
}

/** `Authorization` with the password of Basic as the bearer token; any other as it is. @param {string | undefined} authorization */
function asBearer(authorization) {
  const [, credentials] = /^basic +(\S+) *$/i.exec(authorization ?? "") ?? [];
  return credentials === undefined ? authorization : `Bearer ${Buffer.from(credentials, "base64").toString().replace(/^[^:]*:?/, "")}`;
}
