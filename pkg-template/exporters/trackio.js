/** `token2text/exporters/trackio`: writes traces and metrics to a Trackio server, and reads traces from it. */
import { Token2TextError } from "../errors.js";
import { checkOptions } from "../options.js";
import { asBody } from "./body.js";
import { counting, repairedText } from "./json-repair.js";
import { SERVER_OPTIONS, TrackioConnection } from "./trackio-connection.js";
import { batches, derivedId, prepare, readBody, writeBody } from "./trackio-entries.js";
import { GENERATIONS_KEY, generationTraces } from "./trackio-generations.js";
import { TrackioLog } from "./trackio-log.js";
import { refusalOfProject } from "./trackio-names.js";
import { failed, outcome } from "./trackio-result.js";

export { withRetry } from "./http.js";
export { TrackioReader } from "./trackio-reader.js";
export { enrichStored } from "./trackio-stored.js";

/** @typedef {import("./trackio-connection.js").TrackioServer} TrackioServer */
/** @typedef {import("./trackio-entries.js").Entry} Entry */
/** @typedef {import("./trackio-entries.js").Rejected} Rejected */
/** @typedef {import("./trackio-generations.js").Sample} Sample */
/** @typedef {import("./trackio-generations.js").Decoder} Decoder */
/** @typedef {import("./json-repair.js").Replaced} Replaced */
/** @typedef {import("./trackio-reader.js").TrackioRun} TrackioRun */
/** @typedef {import("./trackio-reader.js").TracesQuery} TracesQuery */
/** @typedef {import("./trackio-stored.js").StoredRun} StoredRun */
/** @typedef {import("./trackio-stored.js").EnrichedPage} EnrichedPage */
/**
 * @typedef {TrackioServer & RunOptions} TrackioExporterOptions
 *
 * @typedef {object} RunOptions
 * @property {string} [project] Needed by everything but bodies, whose entries name their own.
 * @property {string} [run] The name of the run; likewise.
 * @property {string} [runId] Two runs may share a name, not an id. Default: a random one.
 * @property {Record<string, unknown>} [config] Of the run, sent with the first that `log` or `logGenerations` writes. Its keys must not
 *   begin with `_`.
 */
/** @typedef {import("./trackio-result.js").TrackioResult} TrackioResult */
/** @typedef {import("./trackio-result.js").Problem} Problem */

/** Answers to a body of which one entry is bad: an exception of the server, or JSON that its reader cannot read. */
const UNREADABLE = /^Missing required parameter/;
/** On a Space, a missing permission is an exception too. */
const NOT_PERMITTED = /^Expected (a HF_TOKEN|the provided hf_token|an oauth|the oauth)/;

/**
 * Writes to a Trackio server. No method throws, and nothing that is given is changed.
 *
 * @example
 *   const exporter = new TrackioExporter({ url: "http://127.0.0.1:7860", writeToken });
 *   const { status, error } = await exporter.export(body);
 */
export class TrackioExporter {
  #connection;
  #log;
  #run;

  /** @param {TrackioExporterOptions} options @throws {Token2TextError} `invalid_options` */
  constructor(options) {
    const known = [...SERVER_OPTIONS, "project", "run", "runId", "config"];
    const { project, run, runId, config, ...server } = checkOptions(options, known, "new TrackioExporter");
    this.#connection = new TrackioConnection(server);
    checkProject(project);
    checkConfig(config);
    this.#run = { project, run };
    this.#log = new TrackioLog({ project, run, runId, config }, (texts) => this.#send("null", texts));
  }

  /** The id of the run that everything but bodies goes to. */
  get runId() {
    return this.#log.runId;
  }

  /**
   * Whether the server is there and takes what is written; nothing is.
   *
   * @returns {Promise<TrackioResult>}
   */
  async check() {
    const problem = await this.#sendBatch("null", [], { count: 0, rejected: [] });
    return problem ?? { status: "success" };
  }

  /**
   * Writes the entries of a `bulk_log` body, or spans, of which each that is in no other becomes a trace with the others in it.
   * Entries reach the server byte for byte, but for values that it cannot store: what is no character and integers beyond 64 bits
   * are replaced and counted in `replaced`. A bad entry is set aside in `rejected`, the others are stored. Spans need the options
   * `project` and `run`.
   *
   * @param {Uint8Array | ArrayBuffer | import("./body.js").Spans} given
   * @returns {Promise<TrackioResult>}
   */
  async export(given) {
    try {
      const bytes = await asBody(given, "trackio", { ...this.#run, runId: this.runId });
      const replaced = { characters: 0, integers: 0 };
      const { hfToken, entries } = readBody(repairedText(bytes, counting(replaced)));
      return await this.#send(hfToken, entries, replaced);
    } catch (error) {
      return failed(error);
    }
  }

  /**
   * Logs metrics, or traces among them, as `trackio.log` does. They are kept and sent a little later; `finish` tells what
   * became of them, of the first 1,000 lost ones in `rejected`.
   *
   * @param {Record<string, unknown>} metrics
   * @param {{ step?: number | null }} [options] Default: the step after the last one.
   */
  log(metrics, { step } = {}) {
    this.#log.add(metrics, step);
  }

  /**
   * Logs validation generations as verl does, under the key `val/generations`.
   *
   * @param {readonly Sample[]} samples
   * @param {{ step?: number | null, tokenizer?: Decoder }} [options]
   * @returns {Promise<TrackioResult>}
   */
  async logGenerations(samples, { step, tokenizer } = {}) {
    try {
      if (samples.length === 0) return { status: "success" };
      const traces = generationTraces(samples, tokenizer);
      // Made of what it says, so that it is stored once.
      const id = derivedId(this.runId, GENERATIONS_KEY, String(step), JSON.stringify(traces));
      return await this.#send("null", [this.#log.entry({ [GENERATIONS_KEY]: traces }, step, id)]);
    } catch (error) {
      return failed(error);
    }
  }

  /** Sends what `log` has kept; does nothing if that was nothing. @returns {Promise<TrackioResult>} */
  finish() {
    return this.#log.finish();
  }

  /**
   * @param {string} hfToken JSON text.
   * @param {string[]} texts
   * @param {Replaced} [replaced] What was replaced before.
   * @returns {Promise<TrackioResult>}
   */
  async #send(hfToken, texts, replaced = { characters: 0, integers: 0 }) {
    const { entries, rejected } = prepare(texts, replaced);
    const settled = { count: 0, rejected };
    let problem;
    for (const batch of batches(entries)) {
      problem = await this.#sendBatch(hfToken, batch, settled);
      if (problem) break;
    }
    if (problem?.status === "failure") {
      for (const { index, logId } of entries.slice(settled.count)) rejected.push({ index, logId, error: problem.error });
    }
    rejected.sort((a, b) => a.index - b.index);
    return outcome(rejected, replaced, { lost: rejected.length, all: texts.length }, problem);
  }

  /**
   * Sends a batch; if the server fails over it, in halves, until the bad entries are alone.
   *
   * @param {string} hfToken
   * @param {Entry[]} batch
   * @param {{ count: number, rejected: Rejected[] }} settled How many entries were stored or refused for themselves, in their order.
   * @returns {Promise<Problem | undefined>} What stops the export.
   */
  async #sendBatch(hfToken, batch, settled) {
    const result = await this.#connection.call("bulk_log", writeBody(hfToken, batch));
    if (result.status === "success") {
      settled.count += batch.length;
      return undefined;
    }
    if (result.status === "retryable") return { status: "retryable", retryAfterMs: result.retryAfterMs, error: result.error };
    if (batch.length === 0 || !isAboutEntries(result)) return { status: "failure", error: result.error, stoppedBy: result.httpStatus };
    if (batch.length === 1) {
      const [{ index, logId }] = batch;
      settled.count++;
      settled.rejected.push({ index, logId, error: result.error, httpStatus: result.httpStatus });
      return undefined;
    }
    const middle = batch.length >> 1;
    const problem = await this.#sendBatch(hfToken, batch.slice(0, middle), settled);
    return problem ?? this.#sendBatch(hfToken, batch.slice(middle), settled);
  }
}

/** @param {{ httpStatus?: number, reason: string }} answer */
function isAboutEntries({ httpStatus, reason }) {
  return httpStatus === 500 ? !NOT_PERMITTED.test(reason) : httpStatus === 400 && UNREADABLE.test(reason);
}

/** @param {string} [project] */
function checkProject(project) {
  const refusal = project === undefined ? undefined : refusalOfProject(project);
  if (refusal) throw new Token2TextError("invalid_options", `a project must not be called ${JSON.stringify(project)}: ${refusal}`);
}

/** @param {Record<string, unknown>} [config] */
function checkConfig(config = {}) {
  const key = Object.keys(config).find((name) => name.startsWith("_"));
  if (key === undefined) return;
  throw new Token2TextError("invalid_options", `\`config\` must not have the key \`${key}\`: those with \`_\` are Trackio's own`);
}
