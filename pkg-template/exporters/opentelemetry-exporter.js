import { Enricher } from "../enricher.js";
import { Token2TextError, describe } from "../errors.js";
import { checkOptions } from "../options.js";
import { withTextsOf } from "./opentelemetry-texts.js";

/** @typedef {import("./opentelemetry-span.js").SpanLike} SpanLike */
/** OpenTelemetry's `ExportResult`: `code` is 0 for success and 1 for failure. @typedef {{ code: number, error?: Error }} Result */
/**
 * OpenTelemetry's `SpanExporter`, of 2.x and of 3.x.
 *
 * @template Span
 * @typedef {object} Exporter
 * @property {(spans: Span[], callback: (result: any) => void) => void} export
 * @property {() => Promise<void>} shutdown
 * @property {() => Promise<void>} [forceFlush]
 */
/** @template Span @typedef {import("./opentelemetry-texts.js").Told<Span>} Told */
/**
 * @typedef {object} OwnOptions
 * @property {(told: Told<any>) => void} [onReport] Told of each span with ids, before it is exported. What it throws is ignored.
 */
/** Those of the Enricher only with tokenizers. @typedef {import("../enricher.js").EnricherOptions & OwnOptions} SpanExporterOptions */

const FAILED = 1;

/**
 * A span exporter around another one, which gets the spans with their texts: those that `enrichBody` would write into their OTLP. It
 * needs no package of OpenTelemetry, and takes the spans of `@opentelemetry/sdk-trace-base` 2.x and `@opentelemetry/sdk-trace` 3.x.
 *
 * Spans are never changed: one with texts is a copy with the same prototype, resource and methods, any other is passed on itself, as is one
 * whose ids cannot be decoded. `export` never throws and calls back once, whatever the other exporter does.
 *
 * @template {SpanLike} Span
 */
export class Token2TextSpanExporter {
  #inner;
  #enricher;
  #ownsEnricher;
  #onReport;
  /** What ends the exports that are under way. @type {Set<(result: Result) => void>} */
  #open = new Set();
  /** @type {Promise<void> | undefined} */
  #shutdown;

  /**
   * @param {Exporter<Span>} inner
   * @param {Enricher | ConstructorParameters<typeof Enricher>[0]} enricherOrTokenizers What makes an Enricher, or one that may be in use
   *   elsewhere too.
   * @param {SpanExporterOptions} [options]
   * @throws {Token2TextError} `invalid_options`.
   *
   * @example
   *   const exporter = new Token2TextSpanExporter(new OTLPTraceExporter(), await Tokenizer.load("tokenizer.json"));
   *   const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
   */
  constructor(inner, enricherOrTokenizers, options = {}) {
    if (typeof inner?.export !== "function" || typeof inner.shutdown !== "function") {
      throw new Token2TextError("invalid_options", `Token2TextSpanExporter takes another span exporter, not ${describe(inner)}`);
    }
    if (!(enricherOrTokenizers instanceof Enricher) && "enrichBody" in Object(enricherOrTokenizers)) {
      throw new Token2TextError("invalid_options", "this Enricher is not the one of token2text; that of token2text/worker answers too late");
    }
    const { onReport, ...enricherOptions } = options;
    this.#inner = inner;
    this.#onReport = onReport;
    this.#ownsEnricher = !(enricherOrTokenizers instanceof Enricher);
    if (enricherOrTokenizers instanceof Enricher) {
      checkOptions(options, ["onReport"], "a Token2TextSpanExporter with an Enricher");
      this.#enricher = enricherOrTokenizers;
    } else {
      this.#enricher = new Enricher(enricherOrTokenizers, enricherOptions);
    }
  }

  /**
   * @param {Span[]} spans
   * @param {(result: any) => void} callback Called once with OpenTelemetry's `ExportResult`, at the latest when the other exporter has shut down.
   */
  export(spans, callback) {
    const settle = this.#once(callback);
    if (this.#shutdown) return settle(failed("the exporter was shut down"));
    try {
      const sent = /** @type {unknown} */ (this.#inner.export(withTextsOf(spans, this.#enricher, (told) => this.#tell(told)), settle));
      // Of a function that was written as an async one.
      if (sent instanceof Promise) sent.catch((error) => settle(failed(error)));
    } catch (error) {
      settle(failed(error));
    }
  }

  /** @returns {Promise<void>} */
  async forceFlush() {
    await this.#inner.forceFlush?.();
  }

  /** Shuts the other exporter down, once. @returns {Promise<void>} */
  shutdown() {
    this.#shutdown ??= this.#end();
    return this.#shutdown;
  }

  async #end() {
    try {
      await this.#inner.shutdown();
    } finally {
      for (const settle of this.#open) settle(failed("the exporter was shut down before it had exported these spans"));
      if (this.#ownsEnricher) this.#enricher.free();
    }
  }

  /** @param {(result: Result) => void} callback */
  #once(callback) {
    /** @param {Result} result */
    const settle = (result) => {
      if (!this.#open.delete(settle)) return;
      try {
        callback(result);
      } catch {
        // Of no concern to the other exporter, which would take it for an error of its own.
      }
    };
    this.#open.add(settle);
    return settle;
  }

  /** @param {Told<Span>} told */
  #tell(told) {
    try {
      this.#onReport?.(told);
    } catch {
      // Spans are not lost for somebody's report.
    }
  }
}

/** @param {unknown} error @returns {Result} */
function failed(error) {
  return { code: FAILED, error: error instanceof Error ? error : new Error(String(error)) };
}
