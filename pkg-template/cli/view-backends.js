/** Backends that the viewer reads through its own server: browsers let a page ask no server of another origin that does not allow it. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { authorization } from "../exporters/mlflow-client.js";
import { messageOf } from "../errors.js";
import { UsageError } from "./args.js";
import { refuse } from "./view-server.js";

/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */
/**
 * @typedef {object} Backend
 * @property {string} title
 * @property {(request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>} pass `path`: below the backend's
 *   address, decoded.
 */
/** What is asked for; everything else is refused, so that a page can change nothing. @typedef {{ title: string, reads: RegExp }} Kind */

/** @satisfies {Record<string, Kind>} */
const KINDS = {
  mlflow: {
    title: "MLflow",
    reads: /^(?:GET api\/2\.0\/mlflow\/experiments\/get-by-name|POST api\/2\.0\/mlflow\/experiments\/search|POST api\/3\.0\/mlflow\/traces\/search|GET api\/3\.0\/mlflow\/traces\/[^/]+|GET ajax-api\/3\.0\/mlflow\/get-trace-artifact)$/,
  },
  trackio: { title: "Trackio", reads: /^POST api\/(?:get_all_projects|get_runs_for_project|get_trace_steps|get_traces)$/ },
};
/** Bytes of a question, at most. */
const MOST_ASKED = 1 << 20;

/**
 * Those that were named, by the path at which the page finds them.
 *
 * @param {{ mlflow?: string, trackio?: string }} given Addresses of servers.
 * @param {NodeJS.ProcessEnv} env The login of MLflow; the page never sees it.
 * @returns {Record<string, Backend>}
 */
export function backendsOf(given, env) {
  /** @type {Record<string, Backend>} */
  const backends = {};
  for (const [name, kind] of Object.entries(KINDS)) {
    const address = given[/** @type {keyof typeof KINDS} */ (name)];
    if (address === undefined) continue;
    const base = baseOf(name, address);
    const headers = name === "mlflow" ? loginOf(base, env) : {};
    base.username = base.password = "";
    backends[name] = { title: kind.title, pass: (request, response, path) => pass(kind, base, headers, request, response, path) };
  }
  return backends;
}

/** @param {string} name @param {string} address */
function baseOf(name, address) {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") throw new UsageError(`--${name} must be the address of a server (http://host:port), not \`${address}\``);
  url.search = url.hash = "";
  if (!url.pathname.endsWith("/")) url.pathname += "/";
  return url;
}

/** @param {URL} url @param {NodeJS.ProcessEnv} env */
function loginOf(url, env) {
  const { MLFLOW_TRACKING_USERNAME: username, MLFLOW_TRACKING_PASSWORD: password, MLFLOW_TRACKING_TOKEN: token } = env;
  return authorization({ username, password, token }, url);
}

/** @param {Kind} kind @param {URL} base @param {Record<string, string>} login @param {IncomingMessage} request @param {ServerResponse} response @param {string} path */
async function pass({ title, reads }, base, login, request, response, path) {
  if (!reads.test(`${request.method} ${path}`) || path.includes("..")) return refuse(response, 403, `here traces of ${title} are read, and nothing else`);
  const url = new URL(path.split("/").map(encodeURIComponent).join("/"), base);
  url.search = new URL(request.url ?? "", base).search;
  const type = request.headers["content-type"];
  const headers = { ...login, accept: "application/json", ...(type && { "content-type": type }) };
  const body = request.method === "POST" ? await bodyOf(request) : undefined;
  if (body === null) return refuse(response, 413, "the question is too long");
  const controller = new AbortController();
  response.on("close", () => controller.abort());
  try {
    const answer = await fetch(url, { method: request.method, headers, body, redirect: "error", signal: controller.signal });
    const data = answer.headers.get("content-type") ?? "application/octet-stream";
    response.writeHead(answer.status, { "content-type": data, "content-security-policy": "default-src 'none'; sandbox" });
    if (answer.body) await pipeline(Readable.fromWeb(/** @type {import("node:stream/web").ReadableStream} */ (answer.body)), response);
    else response.end();
  } catch (error) {
    if (response.headersSent || controller.signal.aborted) response.destroy();
    else refuse(response, 502, `${title} at ${base.origin} does not answer: ${messageOf(error)}`);
  }
}

/** Nothing if it is too long. @param {IncomingMessage} request */
async function bodyOf(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MOST_ASKED) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
