/**
 * HTTP for exporters and readers: one request with a time limit, told apart by what can be done about its outcome, and a
 * wrapper that tries again. Nothing here throws, and nothing that is given is changed.
 */
import { Token2TextError, messageOf } from "../errors.js";
import { unshared } from "../source.js";

/**
 * @typedef {object} HttpRequest
 * @property {string | URL} url
 * @property {string} [method] Default: `"GET"`.
 * @property {Record<string, string>} [headers]
 * @property {Uint8Array | string} [body]
 * @property {boolean} [gzip] Compresses the body, for servers that take it. Default: false.
 */
/**
 * @typedef {object} HttpOptions
 * @property {typeof globalThis.fetch} [fetch] Another fetch, with a proxy for example.
 * @property {number} [timeoutMillis] For the whole exchange, in milliseconds. Default: 30,000.
 * @property {AbortSignal} [signal]
 * @property {(answer: Uint8Array, headers: Headers) => string | undefined} [explain] Reads the words of an error that is no text.
 * @property {() => number} [now] The clock that a date in `Retry-After` is compared with, in milliseconds since 1970.
 */
/** @typedef {{ status: "success", httpStatus: number, headers: Headers, body: Uint8Array<ArrayBuffer> }} HttpSuccess */
/**
 * A request that may succeed if it is made again. `answer` is the beginning of what the server said.
 *
 * @typedef {{ status: "retryable", retryAfterMs?: number, error: Token2TextError, httpStatus?: number, answer?: string }} Retryable
 */
/**
 * A request that will fail again.
 *
 * @typedef {{ status: "failure", error: Token2TextError, httpStatus?: number, answer?: string }} Failure
 */
/** @typedef {HttpSuccess | Retryable | Failure} HttpResult */

/** OTLP's table (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes), and 408, which proxies send. */
const RETRYABLE_STATUSES = [408, 429, 502, 503, 504];
const TIMEOUT_MILLIS = 30_000;
/** Below that, gzip costs more than it saves. */
const MIN_GZIP_BYTES = 1024;
const MAX_ANSWER_CHARS = 2000;

/**
 * Sends one request and reads the whole answer.
 *
 * @param {HttpRequest} request
 * @param {HttpOptions} [options]
 * @returns {Promise<HttpResult>}
 */
export async function request(request, options = {}) {
  const { timeoutMillis = TIMEOUT_MILLIS, signal } = options;
  const fetch = options.fetch ?? globalThis.fetch;
  let prepared;
  try {
    prepared = await prepare(request);
  } catch (error) {
    return failure("invalid_options", `cannot make a request for ${request.url}: ${messageOf(error)}`, error);
  }
  const place = `${prepared.method} ${withoutCredentials(prepared.url)}`;
  const limit = new TimeLimit(timeoutMillis, signal);
  try {
    const { url, method, headers, body } = prepared;
    const response = await fetch(url, { method, headers, body, signal: limit.signal });
    const answer = new Uint8Array(await response.arrayBuffer());
    return outcome(place, response, answer, options);
  } catch (error) {
    if (signal?.aborted) return failure("aborted", `${place}: aborted`, error);
    const what = limit.passed ? `no answer within ${timeoutMillis} ms` : messageOf(error);
    return { status: "retryable", error: new Token2TextError("unreachable", `${place}: ${what}`, { cause: error }) };
  } finally {
    limit.end();
  }
}

/** @param {HttpRequest} request */
async function prepare({ url, method = "GET", headers, body, gzip = false }) {
  const prepared = { url: new URL(url, globalThis.location?.href), method, headers: new Headers(headers) };
  if (body === undefined) return { ...prepared, body: undefined };
  // fetch copies what it is given, so that nobody can change it while it is sent.
  const bytes = /** @type {Uint8Array<ArrayBuffer>} */ (typeof body === "string" ? new TextEncoder().encode(body) : unshared(body));
  if (!gzip || bytes.length < MIN_GZIP_BYTES || typeof CompressionStream === "undefined") return { ...prepared, body: bytes };
  prepared.headers.set("content-encoding", "gzip");
  return { ...prepared, body: await compress(bytes) };
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function compress(bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"))).arrayBuffer());
}

/** @param {string} place @param {Response} response @param {Uint8Array<ArrayBuffer>} body @param {HttpOptions} options @returns {HttpResult} */
function outcome(place, response, body, { explain, now = Date.now }) {
  const { status: httpStatus, headers } = response;
  if (response.ok && response.redirected && !place.startsWith("GET ")) {
    return failure("refused", `${place} was redirected to ${withoutCredentials(response.url)}, where its body got lost; use that address`);
  }
  if (response.ok) return { status: "success", httpStatus, headers, body };
  const answer = (explain?.(body, headers) ?? new TextDecoder().decode(body)).slice(0, MAX_ANSWER_CHARS);
  const error = new Token2TextError("refused", `${place}: status ${httpStatus}${inWords(answer)}`);
  if (!RETRYABLE_STATUSES.includes(httpStatus)) return { status: "failure", error, httpStatus, answer };
  return { status: "retryable", retryAfterMs: retryAfter(headers.get("retry-after"), now()), error, httpStatus, answer };
}

/** Servers explain themselves in `message` or `detail`; a page of HTML explains nothing. @param {string} answer */
function inWords(answer) {
  const text = answer.trim();
  if (text === "" || text.startsWith("<")) return "";
  return `: ${explanation(text)}`;
}

/** @param {string} text */
function explanation(text) {
  try {
    const { message, detail } = JSON.parse(text);
    return String(message ?? detail ?? text);
  } catch {
    return text;
  }
}

/**
 * Milliseconds that the header asks to wait: it holds seconds or a date.
 *
 * @param {string | null} value
 * @param {number} now
 */
function retryAfter(value, now) {
  if (value === null || value.trim() === "") return undefined;
  const seconds = Number(value);
  const millis = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000;
  return Number.isNaN(millis) ? undefined : Math.max(0, millis);
}

/** @param {string | URL} url */
function withoutCredentials(url) {
  const shown = new URL(url);
  shown.username = "";
  shown.password = "";
  return shown.href;
}

/**
 * Where a server is, as it is given to an exporter; on a page also a path.
 *
 * @param {string | URL} url
 * @param {string} whose What has to be there, with an example.
 * @throws {Token2TextError} `invalid_options`.
 */
export function addressOf(url, whose) {
  try {
    return new URL(url, globalThis.location?.href);
  } catch (error) {
    throw new Token2TextError("invalid_options", `\`url\` must be the address of ${whose}: ${messageOf(error)}`, { cause: error });
  }
}

/** @param {import("../errors.js").ErrorCode} code @param {string} message @param {unknown} [cause] @returns {Failure} */
export function failure(code, message, cause) {
  return { status: "failure", error: new Token2TextError(code, message, { cause }) };
}

/** Ends a request when its time is over or its caller gives up. */
class TimeLimit {
  passed = false;
  #controller = new AbortController();
  #abort = () => this.#controller.abort(this.#outer?.reason);
  #outer;
  #timer;

  /** @param {number} millis @param {AbortSignal} [outer] */
  constructor(millis, outer) {
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.passed = true;
      this.#abort();
    }, millis);
    outer?.addEventListener("abort", this.#abort);
    if (outer?.aborted) this.#abort();
  }

  get signal() {
    return this.#controller.signal;
  }

  end() {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#abort);
  }
}

/**
 * @typedef {object} RetryOptions
 * @property {number} [attempts] All in all, the first one too. Default: 5.
 * @property {number} [initialBackoffMillis] Wait before the second attempt; each later one doubles it. Default: 1,000.
 * @property {number} [maxBackoffMillis] Longest wait of our own. Default: 15,000.
 * @property {number} [maxRetryAfterMillis] A server that asks for more is not waited for. Default: 120,000.
 * @property {AbortSignal} [signal] Ends the waiting; the last result is then the answer.
 * @property {(millis: number, signal?: AbortSignal) => Promise<void>} [sleep]
 * @property {() => number} [random] From 0 up to 1.
 */

/** A wait is up to this part longer or shorter, so that many clients do not come back at once. */
const JITTER = 0.2;

/**
 * The same function, which tries again while its result is `retryable`. The last result is the answer, so that the caller
 * still has the choice to keep what was not sent.
 *
 * @template {unknown[]} Arguments
 * @template {{ status: string, retryAfterMs?: number }} Result
 * @param {(...args: Arguments) => Promise<Result>} send
 * @param {RetryOptions} [options]
 * @returns {(...args: Arguments) => Promise<Result>}
 *
 * @example
 *   const send = withRetry((body) => exporter.export(body));
 *   const { status } = await send(body);
 */
export function withRetry(send, options = {}) {
  const { attempts = 5, initialBackoffMillis = 1000, maxBackoffMillis = 15_000, maxRetryAfterMillis = 120_000 } = options;
  const { signal, sleep = sleepFor, random = Math.random } = options;
  return async (...args) => {
    for (let attempt = 1; ; attempt++) {
      const result = await send(...args);
      if (result.status !== "retryable" || attempt >= attempts || signal?.aborted) return result;
      const asked = result.retryAfterMs ?? 0;
      if (asked > maxRetryAfterMillis) return result;
      const backoff = Math.min(initialBackoffMillis * 2 ** (attempt - 1), maxBackoffMillis);
      await sleep(Math.max(asked, backoff * (1 + JITTER * (2 * random() - 1))), signal);
      if (signal?.aborted) return result;
    }
  };
}

/** @param {number} millis @param {AbortSignal} [signal] @param {boolean} [isHeld] Whether the process waits for it. @returns {Promise<void>} */
export function sleepFor(millis, signal, isHeld = true) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const timer = setTimeout(end, millis);
    if (!isHeld) timer.unref();
    signal?.addEventListener("abort", end);
  });
}
