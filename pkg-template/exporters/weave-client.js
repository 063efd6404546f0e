/** The routes of W&B's trace service: where it is, who asks, and which project is meant. */
import { Token2TextError } from "../errors.js";
import { basic } from "./authorization.js";
import { addressOf, failure, request } from "./http.js";

/**
 * @typedef {object} WeaveServer
 * @property {string} project `"entity/project"`, which has to be there.
 * @property {string | URL} [url] Of the trace service, as in `WF_TRACE_SERVER_URL`; of a server of one's own `https://HOST/traces`.
 *   Default: `https://trace.wandb.ai`.
 * @property {string} [apiKey] As in `WANDB_API_KEY`.
 * @property {Record<string, string>} [headers] Sent with every request.
 * @property {typeof globalThis.fetch} [fetch] Another fetch, with a proxy for example.
 * @property {number} [timeoutMillis] For one request, in milliseconds. Default: 30,000.
 * @property {AbortSignal} [signal]
 */

export const SERVER_OPTIONS = ["project", "url", "apiKey", "headers", "fetch", "timeoutMillis", "signal"];
const CLOUD = "https://trace.wandb.ai";
/** What to do about an answer. @type {Record<number, string>} */
const CURES = {
  401: "give the key of an account that may write to the project as `apiKey`",
  403: "the account of the `apiKey` may not do that in this project",
  404: "`url` has to be that of the trace service (https://trace.wandb.ai, or https://HOST/traces), not of the web pages; it may also be too old",
};

export class WeaveClient {
  #base;
  #headers;
  #options;

  /** @param {WeaveServer} server @throws {Token2TextError} `invalid_options` */
  constructor({ project, url = CLOUD, apiKey, headers, ...options }) {
    if (typeof project !== "string" || !/^[^/]+\/[^/]+$/.test(project)) {
      throw new Token2TextError("invalid_options", `\`project\` must be "entity/project", not ${JSON.stringify(project)}`);
    }
    const address = addressOf(url, `Weave's trace service, as ${CLOUD}`);
    const key = apiKey ?? decodeURIComponent(address.password);
    this.#base = `${address.origin}${address.pathname}`.replace(/\/$/, "");
    this.#headers = { "content-type": "application/json", ...(key && basic("api", key)), ...headers };
    this.#options = options;
    this.project = project;
  }

  /** Stores whole calls. @param {string} body */
  async complete(body) {
    const result = await this.send(`/v2/${this.project.split("/").map(encodeURIComponent).join("/")}/calls/complete`, body);
    // A page that someone in between answers with would else pass for a success.
    if (result.status !== "success" || isObject(result.body)) return result;
    return failure("refused", `${this.#base} does not answer as Weave's trace service does: calls/complete answers with an object`);
  }

  /** @param {string} path @param {string} body JSON. */
  async send(path, body) {
    const asked = { url: this.#base + path, method: "POST", headers: this.#headers, body };
    const result = await request(asked, { ...this.#options, explain: wordsOf });
    const { httpStatus = 0 } = result;
    // W&B's own client tries again after any error of the server.
    if (result.status === "failure" && httpStatus >= 500) return { ...result, status: /** @type {const} */ ("retryable") };
    const cure = result.status === "failure" ? CURES[httpStatus] : undefined;
    if (result.status !== "failure" || cure === undefined) return result;
    const { error } = result;
    return { ...result, error: new Token2TextError(error.code, `${error.message}; ${cure}`, { cause: error }) };
  }
}

/** What the service says of an error, in one of the forms that its parts have. @param {Uint8Array} answer */
function wordsOf(answer) {
  try {
    const { message, error, detail, reason } = JSON.parse(new TextDecoder().decode(answer));
    const details = Array.isArray(detail) ? detail.map(({ loc = [], msg }) => `${loc.join(".")}: ${msg}`).join("; ") : detail;
    const words = message ?? error ?? details ?? reason;
    return words === undefined ? undefined : String(words);
  } catch {
    return undefined;
  }
}

/** @param {Uint8Array} body */
function isObject(body) {
  try {
    const value = JSON.parse(new TextDecoder().decode(body));
    return typeof value === "object" && value !== null;
  } catch {
    return false;
  }
}
