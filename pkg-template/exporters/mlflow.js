/** MLflow: traces written to a server, read from it, and given text where they are. */
export { Token2TextError } from "../errors.js";
export { withRetry } from "./http.js";
export { MlflowExporter } from "./mlflow-exporter.js";
export { MlflowReader } from "./mlflow-reader.js";
export { pendingFilter } from "./mlflow-write-back.js";
