/** Where traces are sent (https://opentelemetry.io/docs/specs/otlp/#otlphttp-request). */
export const PATH = "/v1/traces";
