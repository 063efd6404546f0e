/** MLflow's REST routes: where the server is, who asks, and which experiment is meant. */
import { Token2TextError } from "../errors.js";
import { basic } from "./authorization.js";
import { failure, request } from "./http.js";

/** @typedef {import("./http.js").HttpResult} HttpResult */
/** @typedef {import("./http.js").HttpSuccess} HttpSuccess */
/** @typedef {import("./http.js").Retryable} Retryable */
/** @typedef {import("./http.js").Failure} Failure */
/**
 * @typedef {object} MlflowOptions
 * @property {string | URL} url Of the server, as in `MLFLOW_TRACKING_URI`; it may hold the name and password.
 * @property {string} [experiment] Its name.
 * @property {string} [experimentId] Its number, instead of the name. Default: `"0"`, MLflow's own default experiment.
 * @property {string} [username]
 * @property {string} [password]
 * @property {string} [token] For a proxy that takes bearer tokens; MLflow's own login takes name and password only.
 * @property {Record<string, string>} [headers] Sent with every request.
 * @property {typeof globalThis.fetch} [fetch]
 * @property {number} [timeoutMillis] For one request. Default: 60,000; a server on sqlite waits 20 s for a lock.
 * @property {boolean} [gzip] Compresses large bodies, which servers since 3.10 take. Default: true.
 * @property {AbortSignal} [signal]
 */
/** A request as the routes of MLflow take it. @typedef {{ method?: string, json?: unknown, body?: Uint8Array | string, headers?: Record<string, string>, gzip?: boolean }} Call */

const TIMEOUT_MILLIS = 60_000;
const API = "/api/2.0/mlflow";

export class MlflowClient {
  /** @type {Promise<{ status: "success", id: string } | Retryable | Failure> | undefined} */
  #experiment;
  #options;
  #url;
  #headers;

  /** @param {MlflowOptions} options */
  constructor(options) {
    const { experiment, experimentId } = options;
    if (experimentId !== undefined && !/^\d+$/.test(experimentId)) {
      throw new Token2TextError("invalid_options", `experimentId is a number in digits, not \`${experimentId}\`; a name goes into \`experiment\``);
    }
    if (experiment !== undefined && experimentId !== undefined) {
      throw new Token2TextError("invalid_options", "give either `experiment`, a name, or `experimentId`, not both");
    }
    this.#options = { ...options };
    this.#url = serverUrl(options.url);
    this.#headers = { ...authorization(options, this.#url), ...options.headers };
  }

  /** Whether a page asks another origin and names itself, which a server refuses for OTLP. */
  get isForeignWithLogin() {
    const here = globalThis.location?.origin;
    return here !== undefined && here !== this.#url.origin && Object.keys(this.#headers).some((name) => name.toLowerCase() === "authorization");
  }

  get gzip() {
    return this.#options.gzip ?? true;
  }

  /** The address of the server, without credentials. */
  get address() {
    return `${this.#url.origin}${this.#url.pathname}`.replace(/\/$/, "");
  }

  /**
   * @param {string} path With its query.
   * @param {Call} [call]
   * @returns {Promise<HttpResult>}
   */
  async send(path, { method, json, body, headers, gzip } = {}) {
    const { fetch, timeoutMillis = TIMEOUT_MILLIS, signal } = this.#options;
    const type = json === undefined ? undefined : { "content-type": "application/json" };
    const result = await request(
      {
        url: this.address + path,
        method: method ?? (json === undefined && body === undefined ? "GET" : "POST"),
        headers: { ...this.#headers, ...type, ...headers },
        body: json === undefined ? body : JSON.stringify(json),
        gzip,
      },
      { fetch, timeoutMillis, signal },
    );
    return result.status === "success" ? result : inWords(result, this.address);
  }

  /**
   * The number of the experiment, asked for once.
   *
   * @param {{ create: boolean }} how What becomes of a name that there is not.
   */
  async experimentId({ create }) {
    this.#experiment ??= this.#findExperiment(create);
    const found = await this.#experiment;
    if (found.status !== "success") this.#experiment = undefined;
    return found;
  }

  /** @param {boolean} create @returns {Promise<{ status: "success", id: string } | Retryable | Failure>} */
  async #findExperiment(create) {
    const { experiment, experimentId = "0" } = this.#options;
    if (experiment === undefined) return { status: "success", id: experimentId };
    const found = await this.#experimentByName(experiment);
    if (found.status === "success" || errorCode(found) !== "RESOURCE_DOES_NOT_EXIST") return found;
    if (!create) return failure("refused", await this.#unknownExperiment(experiment));
    const created = await this.send(`${API}/experiments/create`, { json: { name: experiment } });
    if (created.status === "success") return { status: "success", id: String(jsonOf(created).experiment_id) };
    // Another client was faster.
    return errorCode(created) === "RESOURCE_ALREADY_EXISTS" ? this.#experimentByName(experiment) : created;
  }

  /** @param {string} name @returns {Promise<{ status: "success", id: string } | Retryable | Failure>} */
  async #experimentByName(name) {
    const found = await this.send(`${API}/experiments/get-by-name?experiment_name=${encodeURIComponent(name)}`);
    if (found.status !== "success") return found;
    const { experiment_id: id, lifecycle_stage: stage } = jsonOf(found).experiment ?? {};
    if (typeof id !== "string") return notMlflow(this.address);
    return stage === "deleted" ? failure("refused", `the experiment \`${name}\` was deleted; restore it, or take another name`) : { status: "success", id };
  }

  /** @param {string} name */
  async #unknownExperiment(name) {
    const listed = await this.send(`${API}/experiments/search`, { json: { max_results: 1000 } });
    /** @type {string[]} */
    const names = listed.status === "success" ? (jsonOf(listed).experiments ?? []).map((/** @type {{ name: string }} */ experiment) => experiment.name) : [];
    const near = names.toSorted((a, b) => distance(a, name) - distance(b, name)).slice(0, 5);
    const hint = near.length === 0 ? "" : `; there are ${near.map((other) => `\`${other}\``).join(", ")}${names.length > near.length ? " and others" : ""}`;
    return `${this.address} has no experiment \`${name}\`${hint}`;
  }
}

/** @param {unknown} url */
function serverUrl(url) {
  let parsed;
  try {
    parsed = new URL(String(url), globalThis.location?.href);
  } catch {
    parsed = undefined;
  }
  if (parsed?.protocol === "http:" || parsed?.protocol === "https:") return parsed;
  const cure = "for a database or a folder start `mlflow server --backend-store-uri` on it, and give the server's address";
  throw new Token2TextError("invalid_options", `\`${url}\` is no address of a server (http://host:port); ${cure}`);
}

/**
 * The headers that say who asks: as the options have it, or the address.
 *
 * @param {Pick<MlflowOptions, "username" | "password" | "token">} options
 * @param {URL} url
 * @returns {Record<string, string>}
 */
export function authorization({ username, password, token }, url) {
  const name = username ?? decodeURIComponent(url.username);
  const secret = password ?? decodeURIComponent(url.password);
  // The order of MLflow's own client.
  if (name !== "" && secret !== "") return basic(name, secret);
  return token ? { authorization: `Bearer ${token}` } : {};
}

/**
 * The same result with an error that says what a person can do.
 *
 * @template {Failure | Retryable} Result
 * @param {Result} result
 * @param {string} address
 * @returns {Result}
 */
function inWords(result, address) {
  const { error, httpStatus = 0 } = result;
  const words = {
    0: error.code === "unreachable" ? `no server answers at ${address}: ${error.message}` : undefined,
    401: `${address} wants a name and a password, or does not know those that were given`,
    403: `${address} does not allow it: ${error.message}`,
  }[httpStatus];
  return words === undefined ? result : { ...result, error: new Token2TextError(error.code, words, { cause: error }) };
}

/** @param {string} address */
function notMlflow(address) {
  return failure("refused", `${address} does not answer as MLflow does`);
}

/** The code that MLflow gives its errors, such as `RESOURCE_DOES_NOT_EXIST`. @param {Retryable | Failure} result */
export function errorCode({ answer = "" }) {
  try {
    return JSON.parse(answer).error_code;
  } catch {
    return undefined;
  }
}

/** The answer as JSON; an empty object if it is none. @param {HttpSuccess} success @returns {any} */
export function jsonOf({ body }) {
  try {
    return JSON.parse(new TextDecoder().decode(body)) ?? {};
  } catch {
    return {};
  }
}

/** How many letters must be put in, taken out or changed. @param {string} a @param {string} b */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) next.push(Math.min(next[j - 1] + 1, row[j] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}
