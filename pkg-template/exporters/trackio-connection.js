/** One Trackio server: its address, its credentials, its way to answer. */
import { Token2TextError } from "../errors.js";
import { addressOf, request } from "./http.js";

/**
 * @typedef {object} TrackioServer
 * @property {string | URL} url The server's address, as Trackio prints it; a `write_token` in it is used.
 * @property {string} [writeToken] For servers of one's own: `TRACKIO_WRITE_TOKEN`, or what the server prints at its start.
 * @property {string} [hfToken] For servers on a Hugging Face Space.
 * @property {typeof globalThis.fetch} [fetch] Another fetch, with a proxy for example.
 * @property {number} [timeoutMillis] For one request, in milliseconds. Default: 30,000.
 * @property {AbortSignal} [signal]
 */

export const SERVER_OPTIONS = ["url", "writeToken", "hfToken", "fetch", "timeoutMillis", "signal"];

export class TrackioConnection {
  #base;
  #headers;
  #options;

  /** @param {TrackioServer} server @throws {Token2TextError} `invalid_options`: the address is none. */
  constructor({ url, writeToken, hfToken, ...options }) {
    const address = addressOf(url, "a Trackio server, as http://127.0.0.1:7860");
    const token = writeToken ?? address.searchParams.get("write_token");
    address.search = address.hash = "";
    if (!address.pathname.endsWith("/")) address.pathname += "/";
    this.#base = address;
    this.#options = options;
    this.#headers = {
      "content-type": "application/json",
      ...(token && { "x-trackio-write-token": token }),
      ...(hfToken && { authorization: `Bearer ${hfToken}` }),
    };
  }

  /**
   * Calls a function of the API.
   *
   * @param {string} name
   * @param {string} body JSON text of the arguments by name.
   */
  async call(name, body) {
    const url = new URL(`api/${name}`, this.#base);
    const result = await request({ url, method: "POST", headers: this.#headers, body }, this.#options);
    return result.status === "success" ? result : inItsWords(result);
  }
}

/** @typedef {import("./http.js").Retryable | import("./http.js").Failure} Unsuccessful */

/** Trackio explains itself in `{"error": ...}`. @param {Unsuccessful} result @returns {Unsuccessful & { reason: string }} */
function inItsWords(result) {
  const { error, answer = "" } = result;
  const reason = reasonIn(answer);
  const message = error.message.replace(answer.trim(), () => reason ?? answer);
  return { ...result, reason: reason ?? error.message, error: new Token2TextError(error.code, message, { cause: error }) };
}

/** @param {string} answer @returns {string | undefined} */
function reasonIn(answer) {
  try {
    return JSON.parse(answer).error;
  } catch {
    return undefined;
  }
}
