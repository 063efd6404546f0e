/** The files that the viewer's page is made of, for servers that offer it. For Node. */
import { readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";

/** @type {Record<string, string>} */
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".wasm": "application/wasm",
  ".jsonl": "application/octet-stream",
  ".t2t": "application/octet-stream",
  ".md": "text/plain; charset=utf-8",
};

/**
 * A policy that the page can live with: nothing but the viewer's own scripts and styles runs; addresses that somebody opens in
 * it are fetched. It may be framed by pages of its own origin.
 */
export const VIEWER_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; style-src 'self'; img-src 'self' data:; " +
  "connect-src 'self' http: https:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/** @typedef {{ path: string, type: string }} ViewerFile `path`: where it is on this machine. `type`: for the header `content-type`. */

/**
 * The viewer's files by the path under which the page asks for them, `viewer.html` first. All of them are to be served from one
 * folder, with the header `content-security-policy` that `VIEWER_POLICY` is.
 *
 * @returns {Map<string, ViewerFile>}
 *
 * @example
 *   import { VIEWER_POLICY, viewerFiles } from "token2text/viewer-files";
 *
 *   const file = viewerFiles().get("viewer.html");
 */
export function viewerFiles() {
  /** @type {string[]} */
  const names = JSON.parse(readFileSync(place("viewer-files.json"), "utf8"));
  return new Map(names.map((name) => [name, { path: place(name), type: TYPES[posix.extname(name)] }]));
}

/** @param {string} name */
function place(name) {
  return fileURLToPath(new URL(name, import.meta.url));
}
