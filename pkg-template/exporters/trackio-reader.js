/** Reads what a Trackio server has stored. Runs are named by their ids: of two with one name, Trackio shows the newest only. */
import { Token2TextError, messageOf } from "../errors.js";
import { checkOptions } from "../options.js";
import { withRetry } from "./http.js";
import { textOf } from "./json-text.js";
import { SERVER_OPTIONS, TrackioConnection } from "./trackio-connection.js";

/** @typedef {import("./trackio-connection.js").TrackioServer} TrackioServer */
/** @typedef {{ id: string, name: string, createdAt: string | null }} TrackioRun */
/**
 * @typedef {object} TracesQuery
 * @property {string} project
 * @property {string} runId
 * @property {number} [limit] Default: all.
 * @property {number} [offset] Default: 0.
 * @property {number} [step] Only the traces of this step.
 * @property {string} [search] Only traces with this text in their messages or metadata.
 * @property {"request_time_desc" | "request_time_asc" | "step_asc" | "step_desc"} [sort] Default: `"request_time_asc"`, in which new
 *   traces come last and leave the pages before them as they are.
 */

/**
 * Its methods throw a Token2TextError: `unreachable` (no answer) or `refused` (an answer that is an error).
 *
 * @example
 *   const reader = new TrackioReader({ url: "http://127.0.0.1:7860" });
 *   const [run] = await reader.runs("my-project");
 *   const body = await reader.traces({ project: "my-project", runId: run.id, limit: 50 });
 */
export class TrackioReader {
  #call;

  /**
   * @param {TrackioServer & { retry?: import("./http.js").RetryOptions }} options `retry`: how often it is tried again when there is
   *   no answer. Default: not at all.
   * @throws {Token2TextError} `invalid_options`
   */
  constructor(options) {
    const { retry = { attempts: 1 }, ...server } = checkOptions(options, [...SERVER_OPTIONS, "retry"], "new TrackioReader");
    const connection = new TrackioConnection(server);
    this.#call = withRetry((/** @type {string} */ name, /** @type {string} */ body) => connection.call(name, body), retry);
  }

  /** The names of all projects. @returns {Promise<string[]>} */
  async projects() {
    return this.#ask("get_all_projects", {});
  }

  /**
   * The runs of a project, none if there is no such project. Old runs have their name as id.
   *
   * @param {string} project
   * @returns {Promise<TrackioRun[]>}
   */
  async runs(project) {
    const runs = await this.#ask("get_runs_for_project", { project });
    return runs.map((/** @type {any} */ { id, name, created_at }) => ({ id, name, createdAt: created_at }));
  }

  /**
   * How many traces a run has, in all and by step.
   *
   * @param {{ project: string, runId: string }} run
   * @returns {Promise<{ total: number, steps: { step: number, count: number }[] }>}
   */
  async traceSteps({ project, runId }) {
    return this.#ask("get_trace_steps", { project, run_id: runId });
  }

  /**
   * Traces of a run as the server writes them, `{"data":[...]}`: a body for `enrichBody`, and for `read`.
   *
   * @param {TracesQuery} query
   * @returns {Promise<Uint8Array<ArrayBuffer>>}
   */
  async traces({ runId, sort = "request_time_asc", ...query }) {
    return this.#bytes("get_traces", { run_id: runId, sort, ...query });
  }

  /**
   * The ids of all traces of a run, without their contents.
   *
   * @param {{ project: string, runId: string }} run
   * @returns {Promise<string[]>}
   */
  async traceIds({ project, runId }) {
    const query = `SELECT id FROM traces WHERE run_id = '${runId.replaceAll("'", "''")}'`;
    const { rows } = await this.#ask("query_project", { project, query });
    return rows.map((/** @type {{ id: string }} */ { id }) => id);
  }

  /** @param {string} name @param {object} query */
  async #ask(name, query) {
    const text = textOf(await this.#bytes(name, query));
    try {
      return JSON.parse(text).data;
    } catch (error) {
      // What is no API answers with the dashboard's page.
      throw new Token2TextError("refused", `${name}: this is no answer of Trackio's API: ${messageOf(error)}`, { cause: error });
    }
  }

  /** @param {string} name @param {object} query */
  async #bytes(name, query) {
    const result = await this.#call(name, JSON.stringify(query));
    if (result.status === "success") return result.body;
    throw result.error;
  }
}
