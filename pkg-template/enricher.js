import { general, load, now, slim } from "./engines.js";
import { Token2TextError, asToken2TextError, describe } from "./errors.js";
import { ORIGIN, checkOptions, optionsText, stripOptions, tokenizerEntries } from "./options.js";
import { toJson, withTexts } from "./record.js";
import { asBytes } from "./source.js";
import { Tokenizer, coreIn, instanceOf } from "./tokenizer.js";

/** @typedef {import("./general.js").EnricherCore} Core */
/** @typedef {import("./engines.js").Instance} Instance */
/** @typedef {import("./layout.js").Layout} Layout */
/** @typedef {import("./tokenizer.js").Bytes} Bytes */
/** @typedef {import("./report.js").Report} Report */
/**
 * @typedef {object} EnricherOptions
 * @property {Format} [format] Default: `"auto"`.
 * @property {string | Layout | (string | Layout)[]} [layouts] Names of built-in layouts, or layouts of your own. Default: `"auto"`, all
 *   built-in ones; `"auto"` may also stand in the list.
 * @property {"keep" | "replace"} [existing] What happens to text that is already there. Default: `"keep"`.
 * @property {boolean} [skipSpecialTokens] Default: false.
 * @property {"keep" | "drop"} [ids] `"drop"` takes ids out when their text is written, with their copies: those of which the
 *   text says everything. Default: `"keep"`.
 * @property {boolean} [messages] Also writes the conversation that the ids are, by the chat template that the tokenizer's tokens tell, where
 *   the backend shows one: `mlflow.chat.messages`, OpenTelemetry's `gen_ai.input.messages` and `gen_ai.output.messages`, Weave's
 *   `inputs.messages` and `output.choices`, and in Trackio's `messages` in place of what verl made of inputs and output. What is there
 *   stays. It needs the module `spans`, which `Enricher.create` loads. Default: false.
 * @property {number} [maxTextChars] Most characters (code points) of a text; a longer one is cut there. Default: no limit.
 * @property {Limits} [limits]
 */
/**
 * A wire format: JSON records, OTLP requests as JSON or protocol buffers, what MLflow stores and gives out, Weave calls,
 * Trackio traces, or the transcript of an event stream (server-sent events).
 *
 * @typedef {"auto" | "record" | "otlp-json" | "otlp-proto" | "mlflow" | "weave" | "trackio" | "sse"} Format
 */
/**
 * What is known of a body besides its bytes. It counts where the content alone does not tell the format.
 *
 * @typedef {object} Origin
 * @property {string | null} [contentType] The header `content-type`.
 * @property {string | URL | null} [url] The URL that the body was sent to or came from, its path, or the name of a file.
 */
/** @typedef {Pick<EnricherOptions, "format" | "layouts" | "limits" | "messages"> & Origin} StripOptions What the body was enriched with. */
/**
 * Bounds on one call; each is checked before memory is taken.
 *
 * @typedef {object} Limits
 * @property {number} [bodyBytes] Default: 64 MiB. A larger body is refused whole.
 * @property {number} [depth] Of arrays and objects. Default: 1024. A deeper body is refused whole.
 * @property {number} [idsPerField] Default: 4 Mi. A longer field is skipped.
 * @property {number} [textBytesPerField] Default: 64 MiB. A longer text is skipped.
 */

const utf8 = new TextEncoder();
const NO_MESSAGES = "the option `messages` needs spans_bg.wasm, which has not been loaded; use `await Enricher.create(...)`, which fetches it";

/** Finds token ids in traces and writes their text beside them; everything else stays as it is, byte for byte. */
export class Enricher {
  /** @type {Core | undefined} */
  #core;
  /** Of the JSON of records, as `Limits` has them. */
  #bounds;

  /**
   * @param {Tokenizer | Record<string, Tokenizer>} tokenizers One, or several by a pattern on the model name (`"Qwen/*"`;
   *   the first match counts, `"*"` also takes spans without a model).
   * @param {EnricherOptions} [options]
   */
  constructor(tokenizers, options = {}) {
    slim();
    const entries = tokenizerEntries(tokenizers, isTokenizer);
    const json = optionsText(options, "new Enricher");
    // All in one instance; the general one can hold every tokenizer.
    const isSlim = areSlim(entries);
    // What differs between the two does not matter here.
    const spans = isSlim && options.messages === true ? /** @type {any} */ (now("spans", NO_MESSAGES)) : undefined;
    /** @type {Instance} */
    const instance = spans ?? (isSlim ? slim() : general());
    try {
      this.#core = new instance.glue.EnricherCore(json);
      for (const [pattern, tokenizer] of entries) this.#core.addTokenizer(pattern, coreIn(tokenizer, instance));
    } catch (error) {
      throw asToken2TextError(error);
    }
    const { depth = 1024, bodyBytes = 64 << 20 } = options.limits ?? {};
    this.#bounds = { depth, bodyBytes };
  }

  /**
   * The same as `new Enricher`, in the spelling that `token2text/worker` has too; it loads what the option `messages` needs.
   *
   * @param {Tokenizer | Record<string, Tokenizer>} tokenizers
   * @param {EnricherOptions} [options]
   * @returns {Promise<Enricher>}
   */
  static async create(tokenizers, options) {
    if (options?.messages === true && areSlim(tokenizerEntries(tokenizers, isTokenizer))) await load("spans", "the option `messages`");
    return new Enricher(tokenizers, options);
  }

  /**
   * Enriches a parsed body: a record or a list of them, or what JSON.parse makes of any of the formats that are JSON. Ids may also be
   * typed arrays. The result is a new object that shares what did not change, also what JSON has no word for; the input is untouched.
   * The limits are those of its JSON.
   *
   * @template T
   * @param {T} object
   * @returns {{ span: import("./report.js").Enriched<T>, report: Report }}
   */
  enrich(object) {
    this.#alive();
    if (typeof object !== "object" || object === null) {
      const cure = "use enrichBody for bytes, JSON.parse for text";
      throw new Token2TextError("invalid_body", `enrich takes a parsed record, not ${describe(object)}; ${cure}`);
    }
    if (asBytes(object)) {
      throw new Token2TextError("invalid_body", "enrich takes a parsed record, not bytes; use enrichBody for bytes");
    }
    const json = utf8.encode(toJson(object, this.#bounds));
    const { body, report } = this.enrichBody(json);
    const isSame = body.length === json.length && body.every((byte, at) => byte === json[at]);
    const span = isSame ? object : withTexts(object, JSON.parse(new TextDecoder().decode(body)));
    return { span: /** @type {import("./report.js").Enriched<T>} */ (span), report: { ...report, rule: "parsed value" } };
  }

  /**
   * Enriches a body as it is on the wire or on disk: a JSON document, JSON lines, an event stream or OTLP's
   * protocol buffers.
   *
   * @param {Uint8Array | ArrayBuffer} bytes
   * @param {Origin} [origin]
   * @returns {{ body: Bytes, report: Report }}
   */
  enrichBody(bytes, origin) {
    const core = this.#alive();
    const body = bodyBytes(bytes, "enrichBody");
    const { contentType, url } = checkOptions(origin, ORIGIN, "enrichBody");
    try {
      const enriched = core.enrichBody(body, String(contentType ?? ""), String(url ?? ""));
      return /** @type {{ body: Bytes, report: Report }} */ (enriched);
    } catch (error) {
      throw asToken2TextError(error);
    }
  }

  /** Gives the memory back. */
  free() {
    this.#core?.free();
    this.#core = undefined;
  }

  [Symbol.dispose]() {
    this.free();
  }

  #alive() {
    if (this.#core) return this.#core;
    throw new Token2TextError("freed", "this Enricher was freed; make a new one with `new Enricher(tokenizers, options)`");
  }
}

/**
 * Takes the text out again that an Enricher with default options has written: the bytes of before. With `messages` also the conversations,
 * where they stand as an Enricher writes them; what was replaced in Trackio's messages cannot come back.
 *
 * @param {Uint8Array | ArrayBuffer} bytes
 * @param {StripOptions} [options]
 * @returns {Bytes}
 */
export function strip(bytes, options = {}) {
  const { glue } = options?.messages === true ? now("spans", NO_MESSAGES) : slim();
  const body = bodyBytes(bytes, "strip");
  const given = stripOptions(options);
  try {
    return /** @type {Bytes} */ (glue.strip(body, ...given));
  } catch (error) {
    throw asToken2TextError(error);
  }
}

/** @param {unknown} value @returns {value is Tokenizer} */
function isTokenizer(value) {
  return value instanceof Tokenizer;
}

/** @param {[string, Tokenizer][]} entries */
function areSlim(entries) {
  return entries.every(([, tokenizer]) => instanceOf(tokenizer) === slim());
}

/** @param {unknown} bytes @param {string} call */
export function bodyBytes(bytes, call) {
  const body = asBytes(bytes);
  if (body) return body;
  const cure = typeof bytes === "string" ? "; encode the text with `new TextEncoder().encode(text)`" : "";
  throw new Token2TextError("invalid_body", `${call} takes a Uint8Array or an ArrayBuffer, not ${describe(bytes)}${cure}`);
}
