/** The options of `init`, checked, and what they set up. */
import { Token2TextError, describe } from "../errors.js";
import { sleepFor, withRetry } from "../exporters/http.js";
import { checkOptions } from "../options.js";
import { BACKENDS } from "./backends.js";
import { randomId } from "./context.js";
import { jsonOf } from "./json.js";
import { Queue } from "./queue.js";
import { Tracer } from "./tracer.js";

/** @typedef {import("./backends.js").Backend} Backend */
/** @typedef {import("./backends.js").Run} Run */
/** @typedef {import("./backends.js").Result} Result */
/** @typedef {import("./call.js").Record} TraceRecord */
/**
 * @typedef {object} TraceOptions
 * @property {"mlflow" | "trackio" | "weave" | "otlp" | null} [backend] Default: null, nothing is traced.
 * @property {string} [projectName] MLflow's experiment, Trackio's project, Weave's `"entity/project"`; OTLP has none.
 * @property {string} [experimentName] An attribute of every trajectory; Trackio's run.
 * @property {unknown} [token2text] A tokenizer, whose texts go beside the ids of inputs and outputs: a Tokenizer of `token2text` or
 *   `token2text/worker`, or what `Tokenizer.load` takes, such as a path or a URL. `true`: the one in `tokenizer`. Default: false.
 * @property {unknown} [tokenizer] Used if `token2text` is true.
 * @property {import("../enricher.js").EnricherOptions["layouts"]} [layouts] Which ids get a text. Default: `["verl"]`, as verl's `token2text`.
 * @property {number | null} [maxSamplesPerStepPerWorker] Of the samples of a step so many are traced, with all of their rollouts. Default:
 *   null, all.
 * @property {Record<string, any>} [server] Options of the backend's exporter, such as `url`, `writeToken`, `apiKey`, `timeoutMillis`.
 *   Default: what the variables say that the backend's own client reads, such as `MLFLOW_TRACKING_URI`.
 * @property {import("../exporters/http.js").RetryOptions} [retry] How often a batch is sent again. Default: as in `withRetry`.
 * @property {number} [maxQueueRecords] Records that wait for the backend, and, apart from them, calls that have not ended. More are dropped.
 *   Default: 10,000.
 * @property {number} [maxQueueBytes] The same in bytes, by a rough count. Default: 64 MiB.
 */

const OPTIONS = [
  ...["backend", "projectName", "experimentName", "token2text", "tokenizer", "layouts", "maxSamplesPerStepPerWorker"],
  ...["server", "retry", "maxQueueRecords", "maxQueueBytes"],
];
const MAX_QUEUE_RECORDS = 10_000;
const MAX_QUEUE_BYTES = 64 << 20;

/** Tracing that is on; `end` takes it down, whatever still waits. @typedef {{ tracer: Tracer, end: () => void }} Active */

/**
 * @param {TraceOptions} options
 * @returns {Promise<Active | undefined>} Nothing without a backend.
 * @throws {Token2TextError} `invalid_options`; as `Tokenizer.load`.
 */
export async function setUp(options) {
  const given = checkOptions(options, OPTIONS, "init");
  const backend = backendOf(given.backend);
  if (!backend) return undefined;
  const { maxQueueRecords = MAX_QUEUE_RECORDS, maxQueueBytes = MAX_QUEUE_BYTES } = given;
  const maxSamples = given.maxSamplesPerStepPerWorker ?? undefined;
  const counts = { maxSamplesPerStepPerWorker: maxSamples ?? 0, maxQueueRecords, maxQueueBytes };
  for (const [name, value] of Object.entries(counts)) checkCount(name, value);
  const run = { projectName: backend.hasProject ? nameIn(given, "projectName") : "", experimentName: nameIn(given, "experimentName"), runId: randomId(16) };
  const exporter = await backend.exporter({ ...fromEnvironment(backend), ...given.server }, run);
  const texts = given.token2text ? await loadTexts(given) : undefined;
  const ended = new AbortController();
  /** @type {import("../exporters/http.js").RetryOptions} */
  const retry = { sleep: (millis, signal) => sleepFor(millis, signal, false), signal: ended.signal, ...given.retry };
  const send = withRetry((/** @type {unknown} */ body) => exporter.export(body), retry);
  const queue = new Queue({
    maxRecords: maxQueueRecords,
    maxBytes: maxQueueBytes,
    prepare: (record) => prepare(record, texts),
    send: delivery(backend, run, send),
  });
  const end = () => {
    queue.close();
    ended.abort();
    texts?.free();
  };
  return { tracer: new Tracer({ backend, experimentName: run.experimentName, maxSamples, queue }), end };
}

/** WebAssembly is loaded only where there is something to decode with it. @param {TraceOptions} options */
async function loadTexts({ token2text, tokenizer, layouts = ["verl"] }) {
  const { textsOf } = await import("./texts.js");
  return textsOf(token2text === true ? tokenizer : token2text, layouts);
}

/** @param {TraceOptions["backend"]} name */
function backendOf(name) {
  if (name === undefined || name === null) return undefined;
  if (Object.hasOwn(BACKENDS, name)) return BACKENDS[name];
  const known = Object.keys(BACKENDS).map((other) => `"${other}"`).join(", ");
  throw new Token2TextError("invalid_options", `\`backend\` is ${known} or null, not ${describe(name)}`);
}

/** @param {TraceOptions} options @param {"projectName" | "experimentName"} option */
function nameIn(options, option) {
  const name = options[option];
  if (typeof name === "string" && name !== "") return name;
  throw new Token2TextError("invalid_options", `\`${option}\` of init must be a name, not ${describe(name)}`);
}

/** @param {string} name @param {unknown} value */
function checkCount(name, value) {
  if (Number.isSafeInteger(value) && Number(value) >= 0) return;
  throw new Token2TextError("invalid_options", `\`${name}\` must be a whole number from 0 on, not ${describe(value)}`);
}

/** Options of the exporter that variables of the environment stand for. @param {Backend} backend */
function fromEnvironment({ environment }) {
  const named = Object.entries(environment).map(([option, variable]) => [option, process.env[variable]]);
  return Object.fromEntries(named.filter(([, value]) => value));
}

/** A record with its values as JSON, and the texts of their ids. @param {TraceRecord} record @param {import("./texts.js").Texts} [texts] */
async function prepare(record, texts) {
  const values = { inputs: jsonOf(record.inputs), output: jsonOf(record.output) };
  // verl decodes what has come back, and no call that failed.
  const { values: texted, undecoded } = texts && record.output !== undefined ? await texts.add(values) : { values, undecoded: undefined };
  return { prepared: { record, ...texted }, undecoded };
}

/**
 * Sends batches, and tells how much of each the backend has.
 *
 * @param {Backend} backend
 * @param {Run} run
 * @param {(body: unknown) => Promise<Result>} send
 */
function delivery(backend, run, send) {
  let isFirst = true;
  return async (/** @type {import("./backends.js").Prepared[]} */ batch) => {
    const result = await send(backend.body(batch, run, isFirst));
    if (result.status === "success") {
      isFirst = false;
      return { sent: batch.length };
    }
    // Of what is given up after all retries nobody knows how much is there.
    const rejected = result.status === "failure" ? (result.rejected?.length ?? result.rejectedSpans ?? batch.length) : batch.length;
    isFirst &&= rejected === batch.length;
    return { sent: batch.length - rejected, reason: result.error?.message ?? result.status };
  };
}
