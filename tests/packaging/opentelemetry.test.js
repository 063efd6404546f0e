/** The span exporter with OpenTelemetry's SDK 3.x: its types, and its spans. Of 2.x, tests/collector. */
import assert from "node:assert/strict";
import { cpSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fetchTokenizer } from "../../scripts/fetch-tokenizer.js";
import { TOOLS, freshProject, run } from "./support/project.js";

const TYPED = `import { BatchSpanProcessor, InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan, type SpanExporter } from "@opentelemetry/sdk-trace";
import { Enricher, type Tokenizer } from "token2text";
import { Token2TextSpanExporter, type SpanExporterOptions, type Told } from "token2text/exporters/opentelemetry";
export function use(tokenizer: Tokenizer, inner: SpanExporter): TracerProvider {
  const texts: string[] = [];
  const onReport = ({ span, fields, error }: Told<ReadableSpan>): void => void texts.push(span.name, error?.code ?? fields[0].status);
  const options: SpanExporterOptions = { layouts: ["verl"], ids: "drop", onReport };
  const exporter: SpanExporter = new Token2TextSpanExporter(inner, { "Qwen/*": tokenizer }, options);
  const other: SpanExporter = new Token2TextSpanExporter(new InMemorySpanExporter(), new Enricher(tokenizer));
  return new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter }), new SimpleSpanProcessor({ exporter: other })] });
}
// @ts-expect-error an exporter is not an Enricher
export const wrong = (inner: SpanExporter) => new Token2TextSpanExporter(inner, inner);
`;

const MAIN = `import { BatchSpanProcessor, InMemorySpanExporter, TracerProvider } from "@opentelemetry/sdk-trace";
import { Tokenizer } from "token2text";
import { Token2TextSpanExporter } from "token2text/exporters/opentelemetry";

const memory = new InMemorySpanExporter();
const exporter = new Token2TextSpanExporter(memory, await Tokenizer.load("tokenizer.json"));
const provider = new TracerProvider({ spanProcessors: [new BatchSpanProcessor({ exporter })] });
const tracer = provider.getTracer("tests");
tracer.startSpan("flat", { attributes: { response_token_ids: [9707, 11, 1879, 0] } }).end();
tracer.startSpan("nested", { attributes: { "mlflow.spanOutputs": { token_ids: [9707], rest: [0.5, true, { a: 1 }] } } }).end();
tracer.startSpan("plain", { attributes: { a: 1 } }).end();
await provider.forceFlush();
for (const span of memory.getFinishedSpans()) console.log(span.name, span.spanContext().spanId.length, JSON.stringify(span.attributes));
await provider.shutdown();
`;

function project() {
  const project = freshProject();
  symlinkSync(join(TOOLS, "@opentelemetry"), join(project.folder, "node_modules/@opentelemetry"));
  return project;
}

test("its types are those of a SpanExporter, and take one", async () => {
  const typed = project();
  typed.write({ "main.ts": TYPED });
  await run(typed, "tsc", ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom,esnext.disposable", "--module", "nodenext", "main.ts"]);
});

test("its spans get their texts", async () => {
  const main = project();
  cpSync(join(fetchTokenizer("qwen3"), "tokenizer.json"), join(main.folder, "tokenizer.json"));
  main.write({ "main.mjs": MAIN });
  assert.deepEqual((await run(main, "node", ["main.mjs"])).trimEnd().split("\n"), [
    'flat 16 {"token2text.response_text":"Hello, world!","response_token_ids":[9707,11,1879,0]}',
    'nested 16 {"mlflow.spanOutputs":{"response_text":"Hello","token_ids":[9707],"rest":[0.5,true,{"a":1}]}}',
    'plain 16 {"a":1}',
  ]);
});
