import { Token2TextError, asToken2TextError } from "../errors.js";
import { checkOptions } from "../options.js";
import { basic } from "./authorization.js";
import { failure, request } from "./http.js";
import { partialSuccess, statusMessage } from "./otlp-answer.js";
import { JSON_TYPE, PROTOBUF, otlpBody } from "./otlp-body.js";
import { toProtobuf } from "./otlp-json.js";

/** @typedef {import("./http.js").Retryable} Retryable */
/** @typedef {import("./http.js").Failure} Failure */
/**
 * @typedef {object} OtlpOptions
 * @property {string | URL} url Of the collector or backend, as in `OTEL_EXPORTER_OTLP_ENDPOINT`: `/v1/traces` is added unless it ends
 *   with that already. It may hold a name and a password.
 * @property {Record<string, string>} [headers] Sent with every request, as in `OTEL_EXPORTER_OTLP_HEADERS`.
 * @property {string} [token] Sent as a bearer token.
 * @property {"given" | "protobuf"} [encoding] `"protobuf"`: requests in JSON are sent as protocol buffers, for servers that take nothing
 *   else. Default: `"given"`.
 * @property {boolean} [gzip] Compresses bodies of 1 KiB and more. Default: false.
 * @property {number} [timeoutMillis] For one request, in milliseconds. Default: 30,000.
 * @property {typeof globalThis.fetch} [fetch] Another fetch, with a proxy for example.
 * @property {AbortSignal} [signal]
 */
/**
 * `success` with `warning`: everything is stored, and the server has something to say. `failure` with `rejectedSpans`: all other
 * spans are stored. `retryable`: some may be stored already.
 *
 * @typedef {{ status: "success", warning?: string } | Retryable | (Failure & { rejectedSpans?: number })} OtlpResult
 */

const PATH = "/v1/traces";
const OPTIONS = ["url", "headers", "token", "encoding", "gzip", "timeoutMillis", "fetch", "signal"];
/** The only ones that may be tried again (https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes). */
const RETRYABLE_STATUSES = [429, 502, 503, 504];

/** Sends spans to whoever takes OTLP over HTTP. Nothing is tried again, see `withRetry`. */
export class OtlpExporter {
  #url;
  #headers;
  #options;

  /**
   * @param {OtlpOptions} options
   * @throws {Token2TextError} `invalid_options`.
   *
   * @example
   *   const exporter = new OtlpExporter({ url: "http://127.0.0.1:4318", gzip: true });
   *   const send = withRetry((body) => exporter.export(body));
   *   const result = await send(enricher.enrichBody(body).body);
   */
  constructor(options) {
    const { url, headers, token, ...more } = checkOptions(options, OPTIONS, "new OtlpExporter");
    const address = parseAddress(url);
    if (!["given", "protobuf"].includes(more.encoding ?? "given")) {
      throw new Token2TextError("invalid_options", `encoding is "given" or "protobuf", not \`${more.encoding}\``);
    }
    this.#headers = { ...authorization(address, token), ...headers };
    address.username = address.password = "";
    this.#url = address;
    this.#options = more;
  }

  /**
   * Sends an OTLP request (not compressed) as it is, or spans as `read` gives them, as protocol buffers. Never throws.
   *
   * @param {Uint8Array | ArrayBuffer | import("./body.js").Spans} given
   * @param {import("./otlp-body.js").Origin} [origin]
   * @returns {Promise<OtlpResult>}
   */
  async export(given, origin) {
    try {
      const { body, contentType } = await otlpBody(given, origin);
      const isToBeConverted = contentType === JSON_TYPE && this.#options.encoding === "protobuf";
      return await (isToBeConverted ? this.#send(toProtobuf(body), PROTOBUF) : this.#send(body, contentType));
    } catch (error) {
      const { code, message } = asToken2TextError(error);
      return failure(code, message, error);
    }
  }

  /** @param {Uint8Array} body @param {string} contentType @returns {Promise<OtlpResult>} */
  async #send(body, contentType) {
    const { gzip, timeoutMillis, fetch, signal } = this.#options;
    const headers = { ...this.#headers, "content-type": contentType };
    const asked = { url: this.#url, method: "POST", headers, body, gzip };
    const result = await request(asked, { fetch, timeoutMillis, signal, explain: statusMessage });
    if (result.status === "retryable" && result.httpStatus !== undefined && !RETRYABLE_STATUSES.includes(result.httpStatus)) {
      const { error, httpStatus, answer } = result;
      return { status: "failure", error, httpStatus, answer };
    }
    if (result.status !== "success") return result;
    const { rejectedSpans, message } = partialSuccess(result.body, result.headers);
    if (rejectedSpans === 0) return message === "" ? { status: "success" } : { status: "success", warning: message };
    const refusal = `${this.#url.href} rejected ${rejectedSpans} spans${message === "" ? "" : `: ${message}`}`;
    return { ...failure("refused", refusal), httpStatus: result.httpStatus, rejectedSpans };
  }
}

/** @param {unknown} url */
function parseAddress(url) {
  let address;
  try {
    address = new URL(String(url), globalThis.location?.href);
  } catch {
    address = undefined;
  }
  if (address?.protocol !== "http:" && address?.protocol !== "https:") {
    throw new Token2TextError("invalid_options", `\`${url}\` is no address of an OTLP server over HTTP, as http://127.0.0.1:4318`);
  }
  if (!address.pathname.endsWith(PATH)) address.pathname = address.pathname.replace(/\/$/, "") + PATH;
  address.hash = "";
  return address;
}

/** @param {URL} address @param {string} [token] @returns {Record<string, string>} */
function authorization({ username, password }, token) {
  if (token) return { authorization: `Bearer ${token}` };
  return username || password ? basic(decodeURIComponent(username), decodeURIComponent(password)) : {};
}
