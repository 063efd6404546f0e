/** Serves the viewer, and files that were named, to this machine only. */
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { pipeline } from "node:stream/promises";
import { VIEWER_POLICY, viewerFiles } from "../viewer-files.js";
import { UsageError } from "./args.js";

/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */
/** @typedef {import("./view-backends.js").Backend} Backend */
/**
 * @typedef {object} ViewOptions
 * @property {number} port
 * @property {boolean} [mayMove] Whether another port will do if that one is taken. Default: false.
 * @property {Map<string, string>} [files] Paths of files on this machine by their address below the page.
 * @property {Record<string, Backend>} [backends] By the first part of their address.
 */

const HOST = "127.0.0.1";
/** Names of this machine that no other machine's can be: a page whose name was made to point here sends its own in `Host`. */
const OWN_NAME = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?$/i;
/** Of every answer. */
const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-cache",
};
/** Files that were named are data, whatever is in them. */
const DATA_POLICY = "default-src 'none'; sandbox; frame-ancestors 'none'";

/**
 * @param {ViewOptions} options
 * @returns {Promise<{ url: string, server: import("node:http").Server, close: () => Promise<void> }>}
 * @throws {UsageError} If it cannot listen there.
 */
export async function serveViewer({ port, mayMove = false, files = new Map(), backends = {} }) {
  const own = viewerFiles();
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500, /** @type {Error} */ (error).message);
    });
  });

  /** @param {IncomingMessage} request @param {ServerResponse} response */
  async function answer(request, response) {
    for (const [name, value] of Object.entries(HEADERS)) response.setHeader(name, value);
    const { host, origin } = request.headers;
    if (host !== undefined && !OWN_NAME.test(host)) return refuse(response, 403, "this server answers to names of this machine only");
    if (origin !== undefined && origin !== `http://${host}`) return refuse(response, 403, "pages of other origins may not ask here");
    const path = pathOf(request.url ?? "/");
    const [, first, rest] = /^([^/]*)\/(.*)$/s.exec(path ?? "") ?? [];
    if (Object.hasOwn(backends, first ?? "")) return backends[first].pass(request, response, rest);
    if (request.method !== "GET" && request.method !== "HEAD") return refuse(response, 405, "here files are read only", { allow: "GET, HEAD" });
    const page = own.get(path === "" ? "viewer.html" : (path ?? ""));
    if (page) return send(request, response, page.path, { "content-type": page.type, "content-security-policy": VIEWER_POLICY });
    const file = files.get(path ?? "");
    if (file === undefined) return refuse(response, 404, "there is no such file here");
    return send(request, response, file, { "content-type": file.endsWith(".json") ? "application/json" : "application/octet-stream", "content-security-policy": DATA_POLICY });
  }

  await listen(server, port, mayMove);
  const { port: taken } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const close = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
  };
  return { url: `http://${HOST}:${taken}/`, server, close };
}

/** @param {import("node:http").Server} server @param {number} port @param {boolean} mayMove */
async function listen(server, port, mayMove) {
  server.listen(port, HOST);
  try {
    await once(server, "listening");
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error);
    if (code !== "EADDRINUSE") throw new UsageError(`cannot listen at ${HOST}:${port}: ${message}`);
    if (!mayMove) throw new UsageError(`the port ${port} is taken; give another one with --port, or 0 for any that is free`);
    await listen(server, 0, false);
  }
}

/** The path below the page, decoded; nothing if it is none. It is looked up as it is, never on the disk. @param {string} url */
function pathOf(url) {
  try {
    return decodeURIComponent(url.split("?", 1)[0]).replace(/^\//, "");
  } catch {
    return undefined;
  }
}

/** @param {IncomingMessage} request @param {ServerResponse} response @param {string} path @param {Record<string, string>} headers */
async function send(request, response, path, headers) {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return refuse(response, 404, "this file is no longer there");
  const etag = `"${found.size.toString(16)}-${found.mtimeMs.toString(16)}"`;
  const all = { ...headers, etag, "last-modified": found.mtime.toUTCString() };
  if (request.headers["if-none-match"] === etag) return void response.writeHead(304, all).end();
  response.writeHead(200, { ...all, "content-length": found.size });
  if (request.method === "HEAD" || found.size === 0) return void response.end();
  // A file that grows is sent as long as it was.
  await pipeline(createReadStream(path, { end: found.size - 1 }), response).catch(() => response.destroy());
}

/** @param {ServerResponse} response @param {number} status @param {string} message @param {Record<string, string>} [headers] */
export function refuse(response, status, message, headers) {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", ...headers }).end(`${message}\n`);
}
