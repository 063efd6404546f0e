/** A request that is not served, and why. */
export class Refusal extends Error {
  /**
   * @param {number} statusCode
   * @param {string} message
   * @param {Record<string, string>} [headers]
   */
  constructor(statusCode, message, headers = {}) {
    super(message);
    this.name = "Refusal";
    this.statusCode = statusCode;
    this.headers = headers;
  }
}

/** What those are told who send OTLP by gRPC. */
export const NO_GRPC = "OTLP/gRPC is not accepted: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf";
