/** The `fetch` of exports: what they need of it, by undici's plain requests, which make no streams of a body. */
import { promisify } from "node:util";
import zlib from "node:zlib";
import { Agent, request } from "undici";

const gzip = promisify(zlib.gzip);
/** To a backend nearby, a few percent of size count less than the time. */
const FAST = { level: 3 };
/** Below that, gzip costs more than it saves. */
const MIN_GZIP_BYTES = 1024;
/** What a page begins with, and no answer in JSON or protocol buffers. */
const PAGE = "<".charCodeAt(0);
const BAD_GATEWAY = 502;

/**
 * Makes one whose connections are kept for its lifetime. Redirects are not followed: where exports go is fixed by the configuration.
 *
 * @returns {{ fetch: typeof globalThis.fetch, close: () => Promise<void> }}
 */
export function createClient() {
  // Time limits are those of the exporters.
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  const send = async (/** @type {URL} */ url, /** @type {RequestInit} */ { method, headers, body, signal }) => {
    const sent = { dispatcher, method, headers: /** @type {Headers} */ (headers), body: /** @type {Uint8Array | undefined} */ (body), signal };
    const answer = await request(url, /** @type {any} */ (sent));
    const { statusCode, headers: fields } = answer;
    const headersOf = new Headers();
    for (const [name, value] of Object.entries(fields)) {
      for (const one of [value ?? []].flat()) headersOf.append(name, one);
    }
    const bytes = await answer.body.arrayBuffer();
    // Someone else has answered in the backend's place, such as a login in front of it: nothing is stored.
    const status = statusCode === 200 && new Uint8Array(bytes)[0] === PAGE ? BAD_GATEWAY : statusCode;
    return { ok: status >= 200 && status < 300, status, headers: headersOf, url: url.href, redirected: false, arrayBuffer: async () => bytes };
  };
  return { fetch: /** @type {any} */ (send), close: () => dispatcher.close() };
}

/**
 * The same, which compresses bodies.
 *
 * @param {typeof globalThis.fetch} fetch
 * @returns {typeof globalThis.fetch}
 */
export function compressing(fetch) {
  return async (url, init = {}) => {
    const body = /** @type {Uint8Array} */ (init.body);
    if (body.length < MIN_GZIP_BYTES) return fetch(url, init);
    const headers = new Headers(init.headers);
    headers.set("content-encoding", "gzip");
    return fetch(url, { ...init, headers, body: /** @type {Uint8Array<ArrayBuffer>} */ (await gzip(body, FAST)) });
  };
}
