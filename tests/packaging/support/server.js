/** Serves a folder under a Content-Security-Policy, and collects what browsers report against it. */
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

/** @type {Record<string, string>} */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".css": "text/css",
  ".json": "application/json",
  ".wasm": "application/wasm",
};
const REPORT_PATH = "/csp-report";

/**
 * The policy of every page here: nothing but the page's own files, and WebAssembly.
 *
 * @param {{ script?: string, connect?: string, reportTo?: string }} [parts]
 */
export function policy({ script = "'self' 'wasm-unsafe-eval'", connect = "'self'", reportTo = REPORT_PATH } = {}) {
  return `default-src 'self'; script-src ${script}; worker-src 'self'; connect-src ${connect}; report-uri ${reportTo}`;
}

/**
 * @param {string} folder
 * @param {string} [contentSecurityPolicy]
 */
export async function serve(folder, contentSecurityPolicy = policy()) {
  /** @type {string[]} */
  const reports = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === REPORT_PATH) {
      let report = "";
      request.on("data", (chunk) => (report += chunk)).on("end", () => reports.push(report));
      response.writeHead(204).end();
      return;
    }
    const path = join(folder, normalize(pathname), pathname.endsWith("/") ? "index.html" : "");
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) {
      response.writeHead(404).end();
      return;
    }
    const type = TYPES[extname(path)] ?? "application/octet-stream";
    response.writeHead(200, { "content-type": type, "content-security-policy": contentSecurityPolicy });
    createReadStream(path).pipe(response);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}/`;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url, reports, reportTo: url.slice(0, -1) + REPORT_PATH, stop };
}
