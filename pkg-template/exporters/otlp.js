/** OTLP: traces written to any collector or backend that takes it over HTTP. */
export { Token2TextError } from "../errors.js";
export { withRetry } from "./http.js";
export { OtlpExporter } from "./otlp-exporter.js";
export { toProtobuf } from "./otlp-json.js";
export { preset } from "./otlp-presets.js";

/** @typedef {import("./otlp-exporter.js").OtlpOptions} OtlpOptions */
/** @typedef {import("./otlp-exporter.js").OtlpResult} OtlpResult */
/** @typedef {import("./otlp-presets.js").Presets} Presets */
