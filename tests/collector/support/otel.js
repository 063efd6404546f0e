/** OpenTelemetry's own clients, in JavaScript and in Python: each sends a trace and tells what became of it. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { DiagLogLevel, SpanStatusCode, context, diag, trace } from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtoExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import { otelPython } from "../../integration/support/rotel.js";

const SCRIPT = fileURLToPath(new URL("otel_client.py", import.meta.url));
const EXPORTERS = { json: JsonExporter, proto: ProtoExporter };

/** @typedef {{ isSent: boolean, logged: string[], trace: string }} Outcome What the exporter told its SDK, and a person. */

/** @type {string[]} */
let logged = [];
const keep = (/** @type {unknown[]} */ ...words) => void logged.push(words.map((word) => (typeof word === "string" ? word : JSON.stringify(word))).join(" "));
diag.setLogger({ error: keep, warn: keep, info: keep, debug() {}, verbose() {} }, DiagLogLevel.INFO);

/**
 * A root and a child, whose outputs hold ids.
 *
 * @param {"json" | "proto"} kind
 * @param {string} endpoint Of a receiver, without path.
 * @param {string} outputs JSON with `token_ids`.
 * @param {{ gzip?: boolean, headers?: Record<string, string> }} [options]
 * @returns {Promise<Outcome>}
 */
export async function sendByJs(kind, endpoint, outputs, { gzip = false, headers = {} } = {}) {
  const memory = new InMemorySpanExporter();
  const tracer = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(memory)] }).getTracer("tests");
  const root = tracer.startSpan("rollout", { attributes: { "mlflow.spanOutputs": outputs } });
  const child = tracer.startSpan("generate", { attributes: { response_token_ids: JSON.parse(outputs).token_ids } }, trace.setSpan(context.active(), root));
  child.setStatus({ code: SpanStatusCode.OK }).end();
  root.end();
  const exporter = new EXPORTERS[kind]({ url: `${endpoint}/v1/traces`, headers, compression: /** @type {any} */ (gzip ? "gzip" : "none"), timeoutMillis: 20_000 });
  logged = [];
  /** @type {import("@opentelemetry/core").ExportResult} */
  const result = await new Promise((resolve) => exporter.export(memory.getFinishedSpans(), resolve));
  await exporter.shutdown();
  const error = /** @type {any} */ (result.error);
  return { isSent: result.code === 0, logged: [...logged, ...(error ? [`${error.message} ${error.code} ${error.data}`] : [])], trace: root.spanContext().traceId };
}

/**
 * The same by Python.
 *
 * @param {"http" | "grpc"} kind
 * @param {string} endpoint
 * @param {string} outputs
 * @param {{ gzip?: boolean }} [options]
 * @returns {Promise<Outcome>}
 */
export async function sendByPython(kind, endpoint, outputs, { gzip = false } = {}) {
  const to = kind === "http" ? `${endpoint}/v1/traces` : endpoint;
  const { stdout } = await promisify(execFile)(otelPython(), [SCRIPT, kind, to, gzip ? "gzip" : "none", outputs]);
  const { result, ...rest } = JSON.parse(stdout);
  return { isSent: result === "SUCCESS", ...rest };
}
