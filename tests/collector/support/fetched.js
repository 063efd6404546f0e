/**
 * `fetch` without connections that are kept: a busy machine may take longer for a step than Node keeps an idle one, and fetch would then
 * find one that is being closed.
 *
 * @param {string} url
 * @param {RequestInit} [init]
 */
export function fetched(url, init = {}) {
  return fetch(url, { ...init, headers: { connection: "close", .../** @type {Record<string, string>} */ (init.headers) } });
}
