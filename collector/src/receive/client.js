/** The `fetch` of exports: what they need of it, by undici's plain requests, which cost a third of Node's own fetch. */
import { Agent, request } from "undici";

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
    const { statusCode: status, headers: fields } = answer;
    const headersOf = new Headers();
    for (const [name, value] of Object.entries(fields)) {
      for (const one of [value ?? []].flat()) headersOf.append(name, one);
    }
    const bytes = await answer.body.arrayBuffer();
    return { ok: status >= 200 && status < 300, status, headers: headersOf, url: url.href, redirected: false, arrayBuffer: async () => bytes };
  };
  return { fetch: /** @type {any} */ (send), close: () => dispatcher.close() };
}
