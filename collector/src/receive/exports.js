/** Where received spans go: one exporter of the package `token2text` for each export that was asked for. */
import { createHash } from "node:crypto";
import { read } from "token2text";
import { MlflowExporter } from "token2text/exporters/mlflow";
import { OtlpExporter } from "token2text/exporters/otlp";
import { TrackioExporter } from "token2text/exporters/trackio";
import { exportName } from "../configuration/targets.js";
import { compressing } from "./client.js";
import { PATH } from "./path.js";

/** @typedef {import("../types.js").Backend} Backend */
/** @typedef {import("../types.js").ExportTarget} ExportTarget */
/** Statuses of HTTP: for spans that are refused for what they are; for those of whom a backend says nothing but that it failed. */
const ABOUT_SPANS = 400;
const FAILED = 500;
/** Whom it does not know. */
const UNKNOWN = 401;

/** A body of OTLP, not compressed. @typedef {{ body: Uint8Array, contentType: string }} Body */
/**
 * What became of a body at one export. `lost`: how many spans were not stored for good; absent: all of them.
 *
 * @typedef {object} Exported
 * @property {string} name
 * @property {"success" | "retryable" | "failure"} status
 * @property {string} [message] Of an error, or a warning.
 * @property {number} [lost]
 * @property {string} [code] Of an error of token2text.
 * @property {number} [httpStatus]
 * @property {number} [retryAfterMs]
 */
/**
 * @typedef {object} Export
 * @property {string} name For people.
 * @property {string} place What it is known by in a store: the backend, its address, and what says where spans go; no secrets.
 * @property {Backend} backend
 * @property {boolean} isJoined Whether several requests may be sent as one.
 * @property {(body: Body) => Promise<any>} send
 */

/** Whose traces are made of what is in one request, and stay as the first one made them: sent again in other company, spans were lost. @type {Backend[]} */
const ALONE = ["trackio"];

/** Makes the function that sends. @type {Record<Backend, (url: string, options: any) => (body: Body) => Promise<any>>} */
const SENDERS = {
  otlp(url, { gzip = false, fetch, ...options }) {
    const exporter = new OtlpExporter({ url, encoding: "given", fetch: gzip ? compressing(fetch) : fetch, ...options });
    return ({ body, contentType }) => exporter.export(body, { contentType });
  },
  weave(url, { project, token, headers, ...options }) {
    const login = token && { authorization: `Basic ${btoa(`api:${token}`)}` };
    const named = { ...login, ...(project && { project_id: project }), ...headers };
    // It takes nothing but protocol buffers.
    const exporter = new OtlpExporter({ url: `${url.replace(/\/$/, "")}/otel`, headers: named, encoding: "protobuf", ...options });
    return ({ body, contentType }) => exporter.export(body, { contentType });
  },
  mlflow(url, options) {
    const exporter = new MlflowExporter({ url, ...options });
    return oneByOne(({ body, contentType }) => exporter.export(body, { contentType }));
  },
  trackio(url, { project, run = "received", token, ...options }) {
    // Not a random one: collectors that stand side by side, and the same one later, write to one run.
    const runId = createHash("sha256").update(JSON.stringify(["token2text-collector", project, run])).digest("hex").slice(0, 32);
    const exporter = new TrackioExporter({ url, project, run, runId, ...(token && { writeToken: token }), ...options });
    return async ({ body, contentType }) => exporter.export(await read(body, { contentType, url: PATH }));
  },
};

/**
 * @param {ExportTarget[]} targets
 * @param {typeof globalThis.fetch} [fetch]
 * @returns {Export[]}
 * @throws {Error} An option that an exporter does not have; the message names the export.
 */
export function createExports(targets, fetch = globalThis.fetch) {
  return targets.map(({ backend, url, options }) => {
    const { host } = new URL(url);
    const name = `${backend} ${host}`;
    try {
      const isJoined = !ALONE.includes(backend);
      return { name, place: exportName({ backend, url, options }), backend, isJoined, send: SENDERS[backend](url, { fetch, ...options }) };
    } catch (error) {
      throw new Error(`the export ${name}: ${/** @type {Error} */ (error).message}`, { cause: error });
    }
  });
}

/**
 * Sends a body to every export; never fails.
 *
 * @param {Export[]} exports
 * @param {Body} body
 * @param {import("../types.js").Metrics} metrics
 * @returns {Promise<Exported[]>} When all have ended, in their order.
 */
export function sendToAll(exports, body, metrics) {
  return Promise.all(exports.map((one) => sendTo(one, body, metrics)));
}

/**
 * Sends a body to one export; never fails.
 *
 * @param {Export} to
 * @param {Body} body
 * @param {import("../types.js").Metrics} metrics
 * @returns {Promise<Exported>}
 */
export async function sendTo({ name, backend, send }, body, metrics) {
  const start = performance.now();
  const exported = await outcome(name, () => send(body));
  metrics.exported({ backend, status: exported.status }, (performance.now() - start) / 1000);
  return exported;
}

/** @param {string} name @param {() => Promise<any>} send @returns {Promise<Exported>} */
async function outcome(name, send) {
  try {
    const { status, error, warning, retryAfterMs, ...found } = await send();
    const { rejected, rejectedSpans } = found;
    const lost = status === "success" ? 0 : (rejectedSpans ?? rejected?.length);
    return { name, status, message: error?.message ?? warning, code: error?.code, lost, httpStatus: statusOf(found), retryAfterMs };
  } catch (error) {
    const { message, code } = /** @type {Error & { code?: string }} */ (error);
    return { name, status: "failure", message, code };
  }
}

/**
 * Spans that were refused one by one have no status together.
 *
 * @param {{ httpStatus?: number, stoppedBy?: number, rejected?: { httpStatus?: number }[] }} result
 */
function statusOf({ httpStatus, stoppedBy, rejected }) {
  // Trackio answers so to a token that it does not know; what it has against spans, it says of each.
  if (stoppedBy === ABOUT_SPANS) return UNKNOWN;
  if (httpStatus !== undefined || stoppedBy !== undefined || !rejected) return httpStatus ?? stoppedBy;
  return rejected.every(({ httpStatus }) => httpStatus === FAILED) ? FAILED : ABOUT_SPANS;
}

/**
 * The same function, one call after the other: parts of a trace that are sent at once would not see each other.
 *
 * @template Argument, Result
 * @param {(argument: Argument) => Promise<Result>} call
 * @returns {(argument: Argument) => Promise<Result>}
 */
function oneByOne(call) {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  return (argument) => {
    const next = last.then(() => call(argument));
    last = next.catch(() => {});
    return next;
  };
}
