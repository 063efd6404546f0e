/** `token2text/exporters/weave`: writes calls to W&B Weave, and reads calls from it. */
export { Token2TextError } from "../errors.js";
export { withRetry } from "./http.js";
export { WeaveExporter } from "./weave-exporter.js";
export { WeaveReader } from "./weave-reader.js";

/** @typedef {import("./weave-client.js").WeaveServer} WeaveServer */
/** @typedef {import("./weave-exporter.js").WeaveExporterOptions} WeaveExporterOptions */
/** @typedef {import("./weave-exporter.js").WeaveResult} WeaveResult */
/** @typedef {import("./weave-exporter.js").Rejected} Rejected */
/** @typedef {import("./weave-exporter.js").Cut} Cut */
/** @typedef {import("./weave-calls.js").Replaced} Replaced */
/** @typedef {import("./weave-generations.js").Sample} Sample */
/** @typedef {import("./weave-reader.js").CallsQuery} CallsQuery */
