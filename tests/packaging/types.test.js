/** The types, for a TypeScript user with strict settings. */
import { test } from "node:test";
import { freshProject, run } from "./support/project.js";

const MAIN = `import { Enricher, Token2TextError, Tokenizer, init, memoryBytes, read, strip, write, type Bytes, type Drift, type DriftCause, type ErrorCode, type Layout, type LayoutField, type LoadOptions, type Report, type Span, type TokenizerInfo } from "token2text";
import slim from "token2text/slim_bg.wasm";
import spansModule from "token2text/spans_bg.wasm";
const options: LoadOptions = { compat: "transformers5", hash: "", onProgress: ({ loaded, total }) => loaded / (total ?? 1) };
const field: LayoutField = { kind: "prompt", ids: ["/a"], text: "/b" };
const layout: Layout = { name: "mine", when: ["/a"], fields: [field] };
export async function use(file: Blob): Promise<string> {
  await init(slim, { spans: spansModule });
  using tokenizer: Tokenizer = await Tokenizer.load(file, options);
  const info: TokenizerInfo = tokenizer.info;
  const enricher = new Enricher({ "Qwen/*": tokenizer }, { layouts: ["verl", layout], existing: "replace", limits: { depth: 5 } });
  const { body, report }: { body: Bytes; report: Report } = enricher.enrichBody(new Uint8Array());
  const { span } = enricher.enrich({ output: { a: 1 } });
  const text: string = tokenizer.decode(BigInt64Array.of(1n), { skipSpecialTokens: true }) + tokenizer.decodeBatch([[1], Uint32Array.of(1)])[0];
  if (report.fields[0].status === "skipped") throw new Token2TextError("internal", info.decoder);
  const ids: Uint32Array = tokenizer.encode(text, { addSpecialTokens: false });
  const drift: Drift = tokenizer.drift(ids, { ranges: [[0, 1]], onProgress: ({ loaded, total }) => loaded / (total ?? 1) });
  const causes: DriftCause[] = drift.runs.map(({ cause }) => cause);
  if (causes.includes("merge")) return drift.ranges[0].causes[0].cause;
  const packed: Tokenizer = Tokenizer.fromBytes(tokenizer.pack());
  const spans: Span[] = await read(body);
  const written: Bytes = await write(spans, "mlflow");
  const added: string = enricher.enrich({ output: { response_ids: [1] as const } }).span.output.response_text;
  const sent = [new Response(body), new Blob([written]), new Blob([tokenizer.pack(), tokenizer.decodeBytes([1]), strip(body)])];
  const code: ErrorCode = new Token2TextError("aborted", added).code;
  if (sent.length > code.length) return tokenizer.decode([1, 2] as readonly number[]);
  return packed.decode(ids) + strip(body).length + span.output.a + report.totals.decoded + memoryBytes();
}
// @ts-expect-error a string is no list of ids
export const wrong = (tokenizer: Tokenizer) => tokenizer.decode("abc");
// @ts-expect-error a tokenizer is loaded, not made
export const made = () => new Tokenizer();
`;

const ROLLOUT_TRACE = `import { chooseSamples, flush, init, shutdown, stats, traced, withAttributes, type Attributes, type TraceOptions, type TraceStats } from "token2text/rollout-trace";
const options: TraceOptions = { backend: "weave", projectName: "team/p", experimentName: "e", token2text: "tokenizer.json", layouts: "auto", server: { apiKey: "k" } };
const attributes: Attributes = { step: 1, sampleIndex: "a", rolloutN: 0, validate: false, name: "agent_loop", trace: chooseSamples([1])[0] };
export async function use(): Promise<TraceStats> {
  await init(options);
  const generate = traced("generate", async ({ prompt_ids }: { prompt_ids: number[] }) => ({ token_ids: prompt_ids }));
  const { token_ids }: { token_ids: number[] } = await withAttributes(attributes, () => generate({ prompt_ids: [1] }));
  const add: (a: number, b: number) => number = traced("add", (a: number, b: number) => a + b, { parameters: ["a", "b"] });
  if (add(token_ids[0], 1) > stats().sent) return shutdown({ timeoutMillis: 1000 });
  // @ts-expect-error a traced function takes what it took
  generate({});
  return flush();
}
`;

const INLINE = `import { Enricher, Tokenizer } from "token2text/inline";
export const use = (bytes: Uint8Array): Enricher => new Enricher(Tokenizer.fromBytes(bytes));
`;

const WORKER = `import { Enricher, Token2TextError, Tokenizer, init, strip, terminate, transfer, type EncodeOptions, type Report } from "token2text/worker";
const encode: EncodeOptions = { addSpecialTokens: false };
export async function use(file: Blob): Promise<string> {
  await init(undefined, { general: "/general_bg.wasm", reader: "/reader_bg.wasm", spans: "/spans_bg.wasm", worker: () => new Worker("/worker-host.js", { type: "module" }) });
  const tokenizer: Tokenizer = await Tokenizer.load(file, { engine: "auto" });
  const ids: Uint32Array = await tokenizer.encode("Hi", encode);
  if (!(await tokenizer.drift(ids, { ranges: [[0, 1]] })).equal) return "";
  const text: string = (await tokenizer.decode(ids)) + (await tokenizer.info).decoder;
  const enricher: Enricher = await Enricher.create({ "*": tokenizer }, { existing: "keep" });
  const bytes = new Uint8Array(8);
  const { body, report }: { body: Uint8Array; report: Report } = await enricher.enrichBody(transfer(bytes));
  const { span } = await enricher.enrich({ output: { a: 1 } });
  await strip(body);
  await terminate();
  if (report.spans > span.output.a) throw new Token2TextError("internal", text);
  return text;
}
// @ts-expect-error what comes from a worker has to be awaited
export const early = (tokenizer: Tokenizer): string => tokenizer.decode([1]);
`;

const TRACKIO = `import { Enricher, type Tokenizer } from "token2text";
import { TrackioExporter, TrackioReader, enrichStored, withRetry, type TrackioExporterOptions, type TrackioResult, type Rejected, type EnrichedPage } from "token2text/exporters/trackio";
const options: TrackioExporterOptions = { url: "http://127.0.0.1:7860", project: "p", run: "r", config: { a: 1 }, timeoutMillis: 5 };
export async function use(tokenizer: Tokenizer, body: Uint8Array): Promise<string> {
  const exporter = new TrackioExporter(options);
  const result: TrackioResult = await withRetry((bytes: Uint8Array) => exporter.export(bytes))(body);
  if (result.status !== "success") throw result.error;
  exporter.log({ loss: 1 }, { step: 2 });
  const rejected: Rejected[] = (await exporter.logGenerations([["a", [1, 2], 0.5], [Uint32Array.of(1), "b"]], { step: 1, tokenizer })).rejected ?? [];
  const reader = new TrackioReader({ url: options.url, retry: { attempts: 2 } });
  let pages: EnrichedPage[] = [];
  for await (const page of enrichStored(reader, new Enricher(tokenizer), { project: "p", runId: "r" })) pages.push(page);
  return \`\${rejected.length} \${pages[0].written} \${exporter.runId} \${(await exporter.finish()).status}\`;
}
// @ts-expect-error an unknown option
new TrackioExporter({ url: "", token: "x" });
`;

const OTLP = `import { OtlpExporter, preset, withRetry, type OtlpOptions, type OtlpResult, type Presets } from "token2text/exporters/otlp";
const options: OtlpOptions = { url: new URL("http://127.0.0.1:4318"), headers: { "x-scope-orgid": "me" }, gzip: true };
export async function use(body: Uint8Array): Promise<string> {
  const exporter = new OtlpExporter(options);
  const result: OtlpResult = await withRetry((bytes: Uint8Array) => exporter.export(bytes, { contentType: "application/json" }))(body);
  if (result.status === "success") return result.warning ?? "";
  return result.status === "failure" ? \`\${result.rejectedSpans} of them: \${result.error.message}\` : String(result.retryAfterMs);
}
const keys: Presets["langfuse"] = { publicKey: "a", secretKey: "b" };
export const backends: OtlpOptions[] = [preset("langfuse", keys), preset("jaeger"), { ...preset("phoenix", { project: "p" }), shownAs: "langsmith", resource: { a: "b" } }];
// @ts-expect-error an unknown option
new OtlpExporter({ url: "", endpoint: "x" });
// @ts-expect-error the keys are missing
preset("langfuse");
`;

const WEAVE = `import { Enricher, type Tokenizer } from "token2text";
import { WeaveExporter, WeaveReader, withRetry, type CallsQuery, type Cut, type WeaveExporterOptions, type WeaveResult } from "token2text/exporters/weave";
const options: WeaveExporterOptions = { project: "e/p", apiKey: "k", model: "m", layouts: ["auto"] };
export async function use(tokenizer: Tokenizer, body: Uint8Array): Promise<string> {
  const exporter = new WeaveExporter(options);
  const result: WeaveResult = await withRetry((bytes: Uint8Array) => exporter.export(bytes, { contentType: "application/json" }))(body);
  if (result.status !== "success") throw result.error;
  const cut: Cut[] = (await exporter.logGenerations([["a", [1, 2], 0.5], [Uint32Array.of(1), "b"]], { step: 1, tokenizer })).cut ?? [];
  const query: CallsQuery = { ops: ["run"], from: new Date() };
  for await (const page of new WeaveReader({ project: "e/p", retry: { attempts: 2 } }).calls(query)) await exporter.export(new Enricher(tokenizer).enrichBody(page).body);
  return \`\${cut[0].paths} \${result.replaced?.numbers} \${result.rejected?.[0].callId}\`;
}
// @ts-expect-error an unknown option
new WeaveExporter({ project: "e/p", token: "x" });
`;

const FLAGS = ["--noEmit", "--strict", "--target", "es2022", "--lib", "es2022,dom,esnext.disposable"];

for (const [resolution, module] of [["nodenext", "nodenext"], ["bundler", "esnext"]]) {
  test(`the types with moduleResolution ${resolution}`, async () => {
    const project = freshProject();
    const sources = { "main.ts": MAIN, "inline.ts": INLINE, "worker.ts": WORKER, "trackio.ts": TRACKIO, "otlp.ts": OTLP, "weave.ts": WEAVE, "rollout-trace.ts": ROLLOUT_TRACE };
    project.write(sources);
    await run(project, "tsc", [...FLAGS, "--module", module, "--moduleResolution", resolution, ...Object.keys(sources)]);
  });
}
