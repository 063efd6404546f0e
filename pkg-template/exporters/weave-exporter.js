import { started } from "../engines.js";
import { Token2TextError, asToken2TextError } from "../errors.js";
import { checkOptions } from "../options.js";
import { givenBytes } from "./body.js";
import { repairedText } from "./json-repair.js";
import { batchText, callText, callsOfBody, stringIn } from "./weave-calls.js";
import { SERVER_OPTIONS, WeaveClient } from "./weave-client.js";
import { generationCalls } from "./weave-generations.js";
import { fit } from "./weave-size.js";
import { callsOfOthers, callsOfSpans } from "./weave-spans.js";
import { UsageCounter, withUsage } from "./weave-usage.js";

/** @typedef {import("./weave-calls.js").Call} Call */
/** @typedef {import("./weave-calls.js").Item} Item */
/** @typedef {import("./weave-calls.js").Replaced} Replaced */
/** @typedef {import("./weave-client.js").WeaveServer} WeaveServer */
/** @typedef {import("./weave-generations.js").Sample} Sample */
/**
 * @typedef {object} ExportOptions
 * @property {import("../read.js").ReadOptions["layouts"]} [layouts] Where token ids are looked for, as for `read`. Default: `"auto"`.
 * @property {string} [model] The name under which tokens count whose call names no model. Default: `"usage"`, as W&B's own OTLP route has it.
 */
/** @typedef {WeaveServer & ExportOptions} WeaveExporterOptions */
/**
 * A call that is not stored.
 *
 * @typedef {object} Rejected
 * @property {number} index Among the calls, or spans, that were given.
 * @property {string} [callId]
 * @property {Token2TextError} error
 */
/**
 * A call that would have been larger than Weave stores.
 *
 * @typedef {object} Cut
 * @property {number} index Among the calls, or spans, that were given.
 * @property {string} [callId]
 * @property {string[]} paths JSON Pointers into the call: the values that were left out or cut.
 */
/**
 * `retryable`: send the same again; what is stored already is replaced. `failure`: what `rejected` lists was not stored, the rest was;
 * without that list, nothing was. `replaced` and `cut` tell what differs in the copy that was sent.
 *
 * @typedef {(
 *   | { status: "success" }
 *   | { status: "retryable", retryAfterMs?: number, error: Token2TextError }
 *   | { status: "failure", error: Token2TextError }
 * ) & { rejected?: Rejected[], replaced?: Replaced, cut?: Cut[] }} WeaveResult
 */
/** A call that is ready to go. @typedef {{ index: number, callId?: string, text: string, bytes: number }} Ready */

/** The service takes 32 MiB; W&B's JavaScript client sends 10. */
const MAX_BATCH_BYTES = 8 << 20;
const MAX_BATCH_CALLS = 500;
/** Answers about one of the calls, as W&B's Python client has it: too large, and not understood. */
const ABOUT_CALLS = [413, 422];
/** Samples of validations whose time is remembered. */
const MAX_REMEMBERED = 1000;

/**
 * Writes to a project of Weave. No method throws, and nothing that is given is changed. Nothing is tried again, see `withRetry`.
 *
 * @example
 *   const exporter = new WeaveExporter({ project: "my-team/rollouts", apiKey: process.env.WANDB_API_KEY });
 *   const send = withRetry((body) => exporter.export(body));
 *   const { status, error } = await send(enricher.enrichBody(body).body);
 */
export class WeaveExporter {
  #client;
  #layouts;
  #model;
  #counter = new UsageCounter();
  /** When calls of validations were made, which tells a call that is sent again from another. @type {Map<string, string>} */
  #times = new Map();

  /** @param {WeaveExporterOptions} options @throws {Token2TextError} `invalid_options` */
  constructor(options) {
    const { layouts, model = "usage", ...server } = checkOptions(options, [...SERVER_OPTIONS, "layouts", "model"], "new WeaveExporter");
    this.#client = new WeaveClient(server);
    this.#layouts = layouts;
    this.#model = model;
  }

  /**
   * Stores the spans of a body of any format that `read` takes, or spans as `read` gives them, as whole calls. The calls of a body of
   * Weave stay as they are written, but for what its server would not store, and for their project. Each call of a model gains
   * `summary.usage`: its ids, counted. A call keeps its id, so sending the same again replaces it.
   *
   * @param {Uint8Array | ArrayBuffer | import("./body.js").Spans} given
   * @param {Pick<import("../read.js").ReadOptions, "contentType" | "url">} [origin] Where a body comes from, as for `read`.
   * @returns {Promise<WeaveResult>}
   */
  async export(given, origin = {}) {
    try {
      const replaced = { characters: 0, numbers: 0 };
      return await this.#send(await this.#calls(given, origin, replaced), replaced);
    } catch (error) {
      return { status: "failure", error: asToken2TextError(error) };
    }
  }

  /**
   * Stores validation generations as verl logs them to W&B: a call `val/generations` for a step, whose output is a row with the columns
   * `input_1`, `output_1`, `score_1` and so on.
   *
   * @param {readonly Sample[]} samples
   * @param {import("./weave-generations.js").GenerationOptions} [options]
   * @returns {Promise<WeaveResult>}
   */
  async logGenerations(samples, options = {}) {
    try {
      const replaced = { characters: 0, numbers: 0 };
      const calls = await generationCalls(samples, options, this.#client.project, replaced, (id) => this.#timeOf(id));
      return await this.#send(calls.map((call, index) => ({ index, call })), replaced);
    } catch (error) {
      return { status: "failure", error: asToken2TextError(error) };
    }
  }

  /**
   * The calls that were given, with their usage.
   *
   * @param {unknown} given
   * @param {import("./weave-spans.js").Origin} origin
   * @param {Replaced} replaced
   */
  async #calls(given, origin, replaced) {
    await started();
    const items = Array.isArray(given) ? await callsOfSpans(given, this.#client.project, replaced) : await this.#callsOfBytes(given, origin, replaced);
    const good = items.filter((item) => "call" in item);
    const usages = await this.#counter.count(good.map(({ call, span }) => ({ text: callText(call), fields: span?.fields })), this.#layouts);
    good.forEach(({ call }, i) => {
      const usage = usages[i];
      if (usage) call.set("summary", withUsage(call.get("summary") ?? "{}", usage, this.#model));
    });
    return items;
  }

  /** @param {unknown} given @param {import("./weave-spans.js").Origin} origin @param {Replaced} replaced */
  async #callsOfBytes(given, { contentType, url }, replaced) {
    const bytes = givenBytes(given, "a body");
    const { project } = this.#client;
    let broken = 0;
    const text = repairedText(bytes, () => void broken++);
    // Protocol buffers are no text.
    if (/^\s*[[{]/.test(text)) replaced.characters += broken;
    return callsOfBody(text, project, replaced) ?? callsOfOthers(bytes, { contentType, url, layouts: this.#layouts }, project, replaced);
  }

  /** @param {Item[]} items @param {Replaced} replaced @returns {Promise<WeaveResult>} */
  async #send(items, replaced) {
    const { ready, rejected, cut } = prepared(items);
    const settled = { count: 0, rejected };
    let problem;
    for (const batch of batches(ready)) {
      problem = await this.#sendBatch(batch, settled);
      if (problem) break;
    }
    if (problem?.status === "failure") {
      for (const { index, callId } of ready.slice(settled.count)) rejected.push({ index, callId, error: problem.error });
    }
    rejected.sort((a, b) => a.index - b.index);
    const isChanged = replaced.characters > 0 || replaced.numbers > 0;
    const more = { ...(rejected.length > 0 && { rejected }), ...(isChanged && { replaced }), ...(cut.length > 0 && { cut }) };
    if (problem?.status === "retryable") return { ...problem, ...more };
    if (rejected.length === 0) return { status: "success", ...more };
    const [{ index, error }] = rejected;
    const what = `${rejected.length} of ${items.length} calls not stored; call ${index}: ${error.message}`;
    return { status: "failure", error: new Token2TextError(error.code, what, { cause: error }), ...more };
  }

  /**
   * Sends a batch; if the service refuses it over a call, in halves, until the bad calls are alone.
   *
   * @param {Ready[]} batch
   * @param {{ count: number, rejected: Rejected[] }} settled How many calls were stored or refused for themselves, in their order.
   * @returns {Promise<Exclude<WeaveResult, { status: "success" }> | undefined>} What stops the export.
   */
  async #sendBatch(batch, settled) {
    const result = await this.#client.complete(batchText(batch.map(({ text }) => text)));
    if (result.status === "success") {
      settled.count += batch.length;
      return undefined;
    }
    if (result.status === "retryable") return { status: "retryable", retryAfterMs: result.retryAfterMs, error: result.error };
    if (!ABOUT_CALLS.includes(result.httpStatus ?? 0)) return { status: "failure", error: result.error };
    if (batch.length === 1) {
      const [{ index, callId }] = batch;
      settled.count++;
      settled.rejected.push({ index, callId, error: result.error });
      return undefined;
    }
    const middle = batch.length >> 1;
    return (await this.#sendBatch(batch.slice(0, middle), settled)) ?? this.#sendBatch(batch.slice(middle), settled);
  }

  /** @param {string} id */
  #timeOf(id) {
    const time = this.#times.get(id) ?? new Date().toISOString();
    this.#times.set(id, time);
    if (this.#times.size > MAX_REMEMBERED) this.#times.delete([...this.#times.keys()][0]);
    return time;
  }
}

/** Calls as they can be sent, and those that cannot. @param {Item[]} items */
function prepared(items) {
  /** @type {Ready[]} */
  const ready = [];
  /** @type {Rejected[]} */
  const rejected = [];
  /** @type {Cut[]} */
  const cut = [];
  for (const { index, ...item } of items) {
    if ("error" in item) {
      rejected.push({ index, error: item.error });
      continue;
    }
    const callId = stringIn(item.call, "id");
    try {
      const paths = fit(item.call);
      if (paths.length > 0) cut.push({ index, callId, paths });
      const text = callText(item.call);
      ready.push({ index, callId, text, bytes: new TextEncoder().encode(text).length });
    } catch (error) {
      rejected.push({ index, callId, error: asToken2TextError(error) });
    }
  }
  return { ready, rejected, cut };
}

/** Runs of calls that one request takes. @param {Ready[]} calls */
function* batches(calls) {
  /** @type {Ready[]} */
  let batch = [];
  let bytes = 0;
  for (const call of calls) {
    if (batch.length > 0 && (bytes + call.bytes > MAX_BATCH_BYTES || batch.length === MAX_BATCH_CALLS)) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(call);
    bytes += call.bytes;
  }
  if (batch.length > 0) yield batch;
}
