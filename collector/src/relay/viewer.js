/** The viewer on a relay: a page of the backend's own origin, as browsers see it, so that it may read what the backend has. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { VIEWER_POLICY, viewerFiles } from "token2text/viewer-files";

/** @typedef {import("node:http").IncomingMessage} IncomingMessage */
/** @typedef {import("node:http").ServerResponse} ServerResponse */
/** @typedef {import("token2text/viewer-files").ViewerFile} ViewerFile */

/** No backend has anything there. */
export const VIEWER_PATH = "/token2text/";
const HEADERS = { "x-content-type-options": "nosniff", "referrer-policy": "no-referrer", "cache-control": "no-cache" };

/**
 * What answers for the viewer: its files, and the tokenizers of the collector, which the page opens by itself.
 *
 * @param {Pick<import("../types.js").Configuration, "tokenizers">} configuration
 * @returns {{ owns: (method: string, path: string) => boolean, answer: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<number> }}
 *   `answer` gives the status.
 */
export function createViewer({ tokenizers }) {
  const files = viewerFiles();
  const query = new URLSearchParams();
  for (const [i, { pattern, file }] of tokenizers.entries()) {
    const name = `tokenizers/${i + 1}/${basename(file)}`;
    files.set(name, { path: file, type: "application/octet-stream" });
    const address = name.split("/").map(encodeURIComponent).join("/");
    query.append("tokenizer", pattern === "*" ? address : `${pattern}=${address}`);
  }
  const page = `${VIEWER_PATH}viewer.html${tokenizers.length > 0 ? `?${query}` : ""}`;

  return {
    owns: (method, path) => (method === "GET" || method === "HEAD") && path.startsWith(VIEWER_PATH),
    async answer(request, response, path) {
      if (path === VIEWER_PATH) return end(response, 302, { location: page });
      const file = files.get(decoded(path.slice(VIEWER_PATH.length)));
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
