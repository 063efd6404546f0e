/** OpenTelemetry's SDK for JavaScript: its spans with their texts, on the way to any exporter. */
export { Token2TextError } from "../errors.js";
export { Token2TextSpanExporter } from "./opentelemetry-exporter.js";

/** @typedef {import("./opentelemetry-exporter.js").SpanExporterOptions} SpanExporterOptions */
/** @typedef {import("./opentelemetry-exporter.js").Result} Result */
/** @template Span @typedef {import("./opentelemetry-exporter.js").Exporter<Span>} Exporter */
/** @template Span @typedef {import("./opentelemetry-texts.js").Told<Span>} Told */
/** @typedef {import("./opentelemetry-span.js").SpanLike} SpanLike */
