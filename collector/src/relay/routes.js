/** Which requests write or read traces, as tables. Everything else passes. */

/** @typedef {import("../types.js").Backend} Backend */
/** @typedef {{ kind: "write" | "read", method: string, path: RegExp, hasLines?: true }} Route `hasLines`: answered with JSON lines. */

/** Paths may stand under a prefix, as MLflow's `--static-prefix` or a proxy gives them one. */
const OTLP = { kind: /** @type {const} */ ("write"), method: "POST", path: /\/v1\/traces$/ };

/** MLflow's routes stand under `/api` for its clients, under `/ajax-api` for its page. */
const MLFLOW_FILE = /\/(?:ajax-)?api\/2\.0\/mlflow-artifacts\/artifacts\/.+\/traces\.json$/;

/**
 * The routes of each backend; every one takes OTLP too. Trackio's `/gradio_api/call/bulk_log` is not among them: its body is a list of
 * arguments without names, which its own server refuses.
 *
 * @type {Record<Backend, Route[]>}
 */
export const ROUTES = {
  otlp: [OTLP],
  mlflow: [
    OTLP,
    // What a trace says of itself, with previews of its inputs and outputs.
    { kind: "write", method: "POST", path: /\/(?:ajax-)?api\/3\.0\/mlflow\/traces$/ },
    { kind: "write", method: "PUT", path: MLFLOW_FILE },
    // `get`, `batchGet`, or the id of a trace.
    { kind: "read", method: "GET", path: /\/(?:ajax-)?api\/3\.0\/mlflow\/traces\/[^/]+$/ },
    { kind: "read", method: "POST", path: /\/(?:ajax-)?api\/3\.0\/mlflow\/traces\/(?:search|batchGetInfos)$/ },
    { kind: "read", method: "GET", path: /\/ajax-api\/[23]\.0\/mlflow\/get-trace-artifact$/ },
    { kind: "read", method: "GET", path: MLFLOW_FILE },
  ],
  trackio: [
    OTLP,
    { kind: "write", method: "POST", path: /\/api\/bulk_log$/ },
    { kind: "read", method: "POST", path: /\/api\/get_traces$/ },
  ],
  weave: [
    OTLP,
    { kind: "write", method: "POST", path: /\/calls\/complete$/ },
    { kind: "write", method: "POST", path: /\/call\/(?:start|end|upsert_batch)$/ },
    { kind: "read", method: "POST", path: /\/calls\/stream_query$/, hasLines: true },
    { kind: "read", method: "POST", path: /\/call\/read$/ },
  ],
};

/**
 * @param {Backend} backend
 * @param {string} method
 * @param {string} path Without the query.
 * @returns {Route | undefined} Nothing for what only passes.
 * @example
 *   routeOf("trackio", "POST", "/api/bulk_log")?.kind; // "write"
 */
export function routeOf(backend, method, path) {
  return ROUTES[backend].find((route) => route.method === method && route.path.test(path));
}
