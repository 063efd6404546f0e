/**
 * The viewer on a listener: on a relay a page of the backend's own origin, as browsers see it, so that it may read what the backend
 * has; on a receiver with a store the page of what that has.
 */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { VIEWER_POLICY, viewerFiles } from "token2text/viewer-files";

/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */
/** @typedef {import("token2text/viewer-files").ViewerFile} ViewerFile */
/**
 * @typedef {object} Viewer
 * @property {(path: string) => boolean} has Whether there is something at a path.
 * @property {(request: IncomingMessage, response: ServerResponse, path: string) => Promise<number>} answer To `GET` and `HEAD`. Gives the
 *   status, 404 where there is nothing.
 */

const PAGE = "viewer.html";
const HEADERS = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-cache" };

/**
 * What answers for the viewer: its files, and the tokenizers of the collector, which the page opens by itself.
 *
 * @param {Pick<import("./types.js").Configuration, "tokenizers">} configuration
 * @param {object} options
 * @param {string} options.root The path that it is under, with a slash at its end.
 * @param {string} [options.collector] Address of the collector that the page opens too, from that path on.
 * @returns {Viewer}
 */
export function createViewer({ tokenizers }, { root, collector }) {
  const files = viewerFiles();
  const query = new URLSearchParams();
  for (const [i, { pattern, file }] of tokenizers.entries()) {
    const name = `tokenizers/${i + 1}/${basename(file)}`;
    files.set(name, { path: file, type: "application/octet-stream" });
    const address = name.split("/").map(encodeURIComponent).join("/");
    query.append("tokenizer", pattern === "*" ? address : `${pattern}=${address}`);
  }
  if (collector !== undefined) query.append("collector", collector);
  // From the root on, which is another path behind a proxy.
  const page = query.size > 0 ? `${PAGE}?${query}` : PAGE;

  /** @param {string} path */
  const fileAt = (path) => files.get(decoded(path.slice(root.length)));

  return {
    has: (path) => path === root || fileAt(path) !== undefined,
    async answer(request, response, path) {
      if (path === root) return end(response, 302, { location: page });
      const file = fileAt(path);
      const found = await stat(file?.path ?? "").catch(() => undefined);
      if (!file || !found?.isFile()) return end(response, 404, {});
      const etag = `"${found.size.toString(16)}-${found.mtimeMs.toString(16)}"`;
      const headers = { ...HEADERS, etag, "content-type": file.type, "content-security-policy": VIEWER_POLICY };
      if (request.headers["if-none-match"] === etag) return end(response, 304, headers);
      response.writeHead(200, { ...headers, "content-length": found.size });
      if (request.method === "HEAD" || found.size === 0) response.end();
      else await pipeline(createReadStream(file.path, { end: found.size - 1 }), response).catch(() => response.destroy());
      return 200;
    },
  };
}

/** @param {ServerResponse} response @param {number} status @param {Record<string, string>} headers */
function end(response, status, headers) {
  response.writeHead(status, headers).end();
  return status;
}

/** Nothing that a file is called if it cannot be decoded. @param {string} path */
function decoded(path) {
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}
