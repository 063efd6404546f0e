/**
 * A program that logs with OpenTelemetry's SDK for JavaScript; the address comes from OTEL_EXPORTER_OTLP_ENDPOINT.
 *
 *   node otlp.js proto|http PROMPT_IDS TOKEN_IDS
 */
import { BasicTracerProvider, BatchSpanProcessor } from "@opentelemetry/sdk-trace-base";

const [encoding, promptIds, tokenIds] = process.argv.slice(2);
const { OTLPTraceExporter } = await import(`@opentelemetry/exporter-trace-otlp-${encoding}`);
const provider = new BasicTracerProvider({ spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ compression: "gzip" }))] });
const span = provider.getTracer("trainer", "1.0").startSpan(`generate-${encoding}`);
span.setAttributes({ prompt_ids: JSON.parse(promptIds), token_ids: JSON.parse(tokenIds), temperature: 0.5 });
span.addEvent("first token", { ttft: 0.25 });
span.end();
await provider.forceFlush();
await provider.shutdown();
