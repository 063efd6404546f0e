import { Token2TextError, asToken2TextError } from "../errors.js";
import { checkOptions } from "../options.js";
import { basic } from "./authorization.js";
import { failure, request } from "./http.js";
import { partialSuccess, statusMessage } from "./otlp-answer.js";
import { JSON_TYPE, PROTOBUF, otlpBody } from "./otlp-body.js";
import { toProtobuf } from "./otlp-json.js";
import { joinSpans, splitSpans } from "./otlp-request.js";
import { withResource } from "./otlp-resource.js";
import { CONVENTIONS, shownAs } from "./otlp-shown.js";

/** @typedef {import("./http.js").Retryable} Retryable */
/** @typedef {import("./http.js").Failure} Failure */
/**
 * @typedef {object} OtlpOptions
 * @property {string | URL} url Of the collector or backend, as in `OTEL_EXPORTER_OTLP_ENDPOINT`: `/v1/traces` is added unless it ends
 *   with that already. It may hold a name and a password.
 * @property {Record<string, string>} [headers] Sent with every request, as in `OTEL_EXPORTER_OTLP_HEADERS`.
 * @property {string} [token] Sent as a bearer token.
 * @property {"protobuf" | "given"} [encoding] `"given"`: requests in JSON are sent as they are. Default: `"protobuf"`, which every server
 *   takes.
 * @property {import("./otlp-shown.js").ConventionName} [shownAs] Spans whose inputs and output stand elsewhere, with the texts of an Enricher if
 *   there are any, are sent with a copy of them under the names that a backend shows: `"openinference"`: `input.value`, `output.value`,
 *   `openinference.span.kind`; `"langsmith"`: `gen_ai.prompt`, `gen_ai.completion`, `langsmith.span.kind`. What a span has by such a name stays.
 * @property {Record<string, string>} [resource] Attributes of what spans ran on, which are sent where it has none of the name.
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
const OPTIONS = ["url", "headers", "token", "encoding", "shownAs", "resource", "gzip", "timeoutMillis", "fetch", "signal"];
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
    checkChoice("encoding", more.encoding, ["protobuf", "given"]);
    checkChoice("shownAs", more.shownAs, Object.keys(CONVENTIONS));
    this.#headers = { ...authorization(address, token), ...headers };
    address.username = address.password = "";
    this.#url = address;
    this.#options = more;
  }

  /**
   * Sends an OTLP request (not compressed), or spans as `read` gives them, in protocol buffers. Never throws. A request in protocol buffers is
   * sent as it is if nothing is to be added by `shownAs` or `resource`.
   *
   * @param {Uint8Array | ArrayBuffer | import("./body.js").Spans} given
   * @param {import("./otlp-body.js").Origin} [origin]
   * @returns {Promise<OtlpResult>}
   */
  async export(given, origin) {
    const { encoding, ...options } = this.#options;
    const hasAdditions = options.shownAs !== undefined || options.resource !== undefined;
    try {
      const { body, contentType } = await otlpBody(given, origin);
      if (contentType === JSON_TYPE && encoding === "given" && !hasAdditions) return await this.#send(body, contentType);
      const protobuf = contentType === JSON_TYPE ? toProtobuf(body) : body;
      return await this.#send(hasAdditions ? withAdditions(protobuf, options) : protobuf, PROTOBUF);
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

/** @param {Uint8Array} body @param {Pick<OtlpOptions, "shownAs" | "resource">} options */
function withAdditions(body, { shownAs: convention, resource }) {
  const spans = splitSpans(body);
  const named = convention === undefined ? spans : shownAs(spans, convention);
  return joinSpans(resource === undefined ? named : withResource(named, resource));
}

/** @param {string} option @param {unknown} value @param {string[]} choices */
function checkChoice(option, value, choices) {
  if (value === undefined || choices.includes(String(value))) return;
  throw new Token2TextError("invalid_options", `${option} is ${choices.map((choice) => `"${choice}"`).join(" or ")}, not \`${value}\``);
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
