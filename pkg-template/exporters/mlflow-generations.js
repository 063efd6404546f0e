/** The samples of a validation, as verl's `ValidationGenerationsLogger` logs them to MLflow. */
import { Token2TextError, messageOf } from "../errors.js";
import { failure } from "./http.js";
import { artifactPath } from "./mlflow-artifacts.js";
import { jsonOf } from "./mlflow-client.js";

/** @typedef {import("./mlflow-client.js").MlflowClient} MlflowClient */
/** @typedef {import("./http.js").Retryable} Retryable */
/** @typedef {import("./http.js").Failure} Failure */
/** Input, output and score. @typedef {[input: string | TokenIds, output: string | TokenIds, score?: number | null]} Sample */
/** @typedef {import("../tokenizer.js").TokenIds} TokenIds */
/**
 * @typedef {object} GenerationOptions
 * @property {number} step
 * @property {string} [runId] The run that gets the file. Default: a run of its own, told in the result.
 * @property {{ decode: (ids: TokenIds, options: { skipSpecialTokens: boolean }) => string | Promise<string> }} [tokenizer] For ids.
 */

/**
 * @param {MlflowClient} client
 * @param {Sample[]} samples
 * @param {GenerationOptions} [options] Without a step they are refused.
 * @returns {Promise<{ status: "success", runId: string } | Retryable | Failure>}
 */
export async function logGenerations(client, samples, { step, runId, tokenizer } = /** @type {GenerationOptions} */ ({})) {
  let rows;
  try {
    if (!Number.isSafeInteger(step)) throw new Token2TextError("invalid_options", `step is a whole number, not ${step}`);
    rows = await Promise.all(samples.map((sample, i) => row(sample, i, tokenizer)));
  } catch (error) {
    return error instanceof Token2TextError ? { status: "failure", error } : failure("invalid_ids", messageOf(error), error);
  }
  const run = runId === undefined ? await createRun(client, step) : await client.send(`/api/2.0/mlflow/runs/get?run_id=${encodeURIComponent(runId)}`);
  if (run.status !== "success") return run;
  const { run_id: id, artifact_uri: uri } = jsonOf(run).run.info;
  const path = artifactPath(uri, `val_step${step}.json`);
  if (path === undefined) return failure("refused", `the run ${id} keeps its files at ${uri}, not on the server, so none can be uploaded`);
  const headers = { "content-type": "application/json" };
  const put = await client.send(path, { method: "PUT", body: JSON.stringify(rows), headers });
  return put.status === "success" ? { status: "success", runId: id } : put;
}

/** @param {Sample} sample @param {number} i @param {GenerationOptions["tokenizer"]} tokenizer */
async function row([input, output, score = null], i, tokenizer) {
  return { input: await textOf(input, i, tokenizer), output: await textOf(output, i, tokenizer), score };
}

/** @param {string | TokenIds} value @param {number} i @param {GenerationOptions["tokenizer"]} tokenizer */
async function textOf(value, i, tokenizer) {
  if (typeof value === "string") return value;
  if (tokenizer) return tokenizer.decode(value, { skipSpecialTokens: true });
  throw new Token2TextError("invalid_options", `sample ${i} has ids, so logGenerations needs a \`tokenizer\``);
}

/** @param {MlflowClient} client @param {number} step */
async function createRun(client, step) {
  const experiment = await client.experimentId({ create: true });
  if (experiment.status !== "success") return experiment;
  const json = { experiment_id: experiment.id, run_name: `val_step${step}`, start_time: Date.now() };
  const run = await client.send("/api/2.0/mlflow/runs/create", { json });
  if (run.status !== "success") return run;
  const done = { run_id: jsonOf(run).run.info.run_id, status: "FINISHED", end_time: Date.now() };
  const ended = await client.send("/api/2.0/mlflow/runs/update", { json: done });
  return ended.status === "success" ? run : ended;
}
