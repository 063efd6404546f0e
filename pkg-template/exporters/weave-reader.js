/** Reads calls out of a project of Weave. */
import { Token2TextError } from "../errors.js";
import { checkOptions } from "../options.js";
import { withRetry } from "./http.js";
import { memberText, members, textOf } from "./json-text.js";
import { SERVER_OPTIONS, WeaveClient } from "./weave-client.js";

/** @typedef {import("./weave-client.js").WeaveServer} WeaveServer */
/**
 * Which calls. All conditions have to hold.
 *
 * @typedef {object} CallsQuery
 * @property {string[]} [traceIds]
 * @property {string[]} [callIds]
 * @property {string[]} [ops] Names of operations, as `LLMServerClient.generate`, in whatever version; or whole names, as
 *   `weave:///entity/project/op/name:digest`.
 * @property {boolean} [rootsOnly] Only calls that are in no other. Default: false.
 * @property {Date | string} [from] Calls that began then or later; a text is a date in ISO's form.
 * @property {Date | string} [to] Calls that began before.
 */

const PAGE = 100;
const SORTED = ["started_at", "id"].map((field) => ({ field, direction: "asc" }));
const STARTED_AT = { $getField: "started_at" };
const ID = { $getField: "id" };

/**
 * Its methods throw a Token2TextError: `unreachable` (no answer) or `refused` (an answer that is an error).
 *
 * @example
 *   const reader = new WeaveReader({ project: "my-team/rollouts", apiKey: process.env.WANDB_API_KEY });
 *   for await (const page of reader.calls({ ops: ["LLMServerClient.generate"] })) {
 *     const { body } = enricher.enrichBody(page);
 *   }
 */
export class WeaveReader {
  #client;
  #ask;

  /**
   * @param {WeaveServer & { retry?: import("./http.js").RetryOptions }} options `retry`: how often it is tried again when there is
   *   no answer. Default: not at all.
   * @throws {Token2TextError} `invalid_options`
   */
  constructor(options) {
    const { retry = { attempts: 1 }, ...server } = checkOptions(options, [...SERVER_OPTIONS, "retry"], "new WeaveReader");
    this.#client = new WeaveClient(server);
    this.#ask = withRetry((/** @type {string} */ body) => this.#client.send("/calls/stream_query", body), { signal: server.signal, ...retry });
  }

  /**
   * The calls, by the time at which they began, as the service writes them: JSON lines, a body for `enrichBody`, `read` and
   * `WeaveExporter.export`. Pages are cut by time and id, not by offset, so that none is missed or told twice while others come.
   *
   * @param {CallsQuery} [query]
   * @param {{ pageSize?: number }} [options] How many calls are read at once. Default: 100.
   * @returns {AsyncGenerator<Uint8Array<ArrayBuffer>>}
   */
  async *calls(query = {}, { pageSize = PAGE } = {}) {
    /** The last call of the page before. @type {{ startedAt: string, id: string } | undefined} */
    let last;
    for (;;) {
      const asked = {
        project_id: this.#client.project,
        filter: filterOf(query, this.#client.project),
        query: conditionsOf(query, last),
        sort_by: SORTED,
        limit: pageSize,
        // Of a call that was sent again the older versions are there until the service has merged them.
        latest_only: true,
      };
      const result = await this.#ask(JSON.stringify(asked));
      if (result.status !== "success") throw result.error;
      const lines = textOf(result.body).split("\n").filter((line) => line.trim() !== "");
      if (lines.length === 0) return;
      last = placeOf(lines[lines.length - 1]);
      yield result.body;
      if (lines.length < pageSize) return;
    }
  }
}

/** @param {CallsQuery} query @param {string} project */
function filterOf({ traceIds, callIds, ops, rootsOnly }, project) {
  const names = ops?.flatMap((op) => (op.startsWith("weave:///") ? [op] : [op, `weave:///${project}/op/${op}:*`]));
  return { trace_ids: traceIds, call_ids: callIds, op_names: names, trace_roots_only: rootsOnly };
}

/** @param {CallsQuery} query @param {{ startedAt: string, id: string }} [last] */
function conditionsOf({ from, to }, last) {
  const conditions = [];
  if (from !== undefined) conditions.push({ $gte: [STARTED_AT, literal(timeOf(from))] });
  if (to !== undefined) conditions.push({ $not: [{ $gte: [STARTED_AT, literal(timeOf(to))] }] });
  if (last) {
    const startedAt = literal(last.startedAt);
    const isBehind = { $and: [{ $eq: [STARTED_AT, startedAt] }, { $gt: [ID, literal(last.id)] }] };
    conditions.push({ $or: [{ $gt: [STARTED_AT, startedAt] }, isBehind] });
  }
  return conditions.length === 0 ? undefined : { $expr: { $and: conditions } };
}

/** @param {string} text */
function literal(text) {
  return { $literal: text };
}

/** @param {Date | string} time */
function timeOf(time) {
  if (!Number.isNaN(new Date(time).getTime())) return typeof time === "string" ? time : time.toISOString();
  throw new Token2TextError("invalid_options", `\`from\` and \`to\` are dates, not ${JSON.stringify(time)}`);
}

/** @param {string} line A call. */
function placeOf(line) {
  try {
    const parts = members(line);
    return { startedAt: JSON.parse(memberText(line, parts, "started_at") ?? ""), id: JSON.parse(memberText(line, parts, "id") ?? "") };
  } catch (error) {
    throw new Token2TextError("refused", `calls/stream_query: this is no answer of Weave's trace service: ${line.slice(0, 100)}`, { cause: error });
  }
}
