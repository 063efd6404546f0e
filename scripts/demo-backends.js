/**
 * The demo's part with real servers of this machine: recorded rollouts are logged as ids to an MLflow and to a Trackio, and
 * enriched there by the command line; rollouts that verl runs and traces go to the MLflow through the collector.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { MlflowExporter, MlflowReader } from "../pkg/exporters/mlflow.js";
import { TrackioExporter, TrackioReader } from "../pkg/exporters/trackio.js";
import { read } from "../pkg/node.js";
import { mlflowServer } from "../tests/integration/support/mlflow.js";
import { Trackio } from "../tests/integration/support/trackio.js";
import { startVerl } from "./demo-verl.js";
import { ROOT, step } from "./lib.js";
import { recordedRollouts, recordedTexts, textsOf } from "./recorded-rollouts.js";

export const CAPTURE = "verl-calls-qwen3";
const PROJECT = "rollouts";

/**
 * @typedef {object} Started
 * @property {string} url
 * @property {string} logs What `log` does.
 * @property {() => Promise<void>} log
 * @property {string[]} [command] What enriches what was logged; without one, it was enriched on its way.
 * @property {Record<string, string>} [env]
 * @property {() => string[]} expected The texts that were logged as ids, by Python's `tokenizers`.
 * @property {() => Promise<Uint8Array[]>} stored The bodies of what the server has.
 * @property {() => string} address Of the page where the text is.
 * @property {() => Promise<void>} dispose
 */
/** @typedef {{ name: string, venv: string, start: (running: Record<string, Started>) => Promise<Started> }} Backend `start`: with those before it. */

/** @type {Backend[]} */
const BACKENDS = [
  { name: "MLflow", venv: "integration", start: startMlflow },
  { name: "verl's own tracing, through the relay into MLflow", venv: "collector", start: ({ MLflow }) => startVerl(MLflow?.url) },
  { name: "Trackio", venv: "trackio", start: startTrackio },
];

/**
 * A backend that cannot be had does not stop the others.
 *
 * @param {string} tokenizer The path of a tokenizer.json.
 * @returns {Promise<{ addresses: Record<string, string>, mlflow?: string, problems: string[], dispose: () => Promise<void> }>} The servers
 *   run until `dispose`, or the end of this process. `mlflow`: the address of the server.
 */
export async function showBackends(tokenizer) {
  /** @type {Record<string, string>} */
  const addresses = {};
  /** @type {string[]} */
  const problems = [];
  /** @type {Record<string, Started>} */
  const running = {};
  for (const backend of BACKENDS) {
    try {
      await install(backend);
      const server = await backend.start(running);
      running[backend.name] = server;
      addresses[backend.name] = await show(backend, server, tokenizer);
    } catch (error) {
      problems.push(`${backend.name} is left out: ${/** @type {Error} */ (error).message.split("\n")[0]}.`);
      console.log(problems.at(-1));
    }
  }
  // The relay ends before its backend.
  const dispose = async () => {
    for (const server of Object.values(running).reverse()) await server.dispose();
  };
  return { addresses, mlflow: running.MLflow?.url, problems, dispose };
}

/** @param {Backend} backend */
async function install({ name, venv }) {
  step(`${name}: .cache/venv-${venv}; the first time it is installed, which takes a while`);
  const isDone = await succeeds("scripts/venv.sh", [venv], { stdio: ["ignore", "ignore", "inherit"] });
  if (!isDone) throw new Error("it could not be installed; that needs Python 3.10 or newer and PyPI");
}

/** Runs a program beside this one, which serves the page meanwhile. @param {string} program @param {string[]} args @param {import("node:child_process").SpawnOptions} [options] */
async function succeeds(program, args, options) {
  const [status] = await once(spawn(program, args, { cwd: ROOT, stdio: "inherit", ...options }), "exit");
  return status === 0;
}

/** @param {Backend} backend @param {Started} server @param {string} tokenizer @returns {Promise<string>} */
async function show({ name }, { logs, log, command, env, expected, stored, address }, tokenizer) {
  step(logs);
  await log();
  if (command) {
    const args = [...command, "--tokenizer", tokenizer];
    step(`token2text ${args.join(" ")}`);
    if (!(await succeeds("node", ["pkg/bin/token2text.js", ...args], { env: { ...process.env, ...env } }))) throw new Error("the command failed");
  }
  const spans = (await Promise.all((await stored()).map((body) => read(body)))).flat();
  const found = textsOf(spans);
  const texts = expected();
  const missing = texts.filter((text) => !found.has(text));
  if (texts.length === 0 || missing.length > 0) throw new Error(`of ${texts.length} texts ${missing.length} are not on the server`);
  console.log(`ok: ${name}: the server has the ${texts.length} texts`);
  return address();
}

/** @param {{ status: string, error?: Error }} result */
function succeeded({ status, error }) {
  if (status !== "success") throw error ?? new Error(status);
}

/** @returns {Promise<Started>} */
async function startMlflow() {
  const server = await mlflowServer().start();
  const options = { url: server.url, experiment: PROJECT };
  const reader = new MlflowReader(options);
  /** @type {import("../pkg/exporters/mlflow-reader.js").TraceInfo[]} */
  const traces = [];
  return {
    url: server.url,
    logs: `MLflow at ${server.url}: logging the recorded rollouts as ids`,
    expected: () => recordedTexts(CAPTURE),
    command: ["mlflow", "enrich", "--tracking-uri", server.url, "--experiment", PROJECT, "--mode", "in-place"],
    dispose: () => server.dispose(),
    log: async () => succeeded(await new MlflowExporter(options).export((await recordedRollouts(CAPTURE)).flat())),
    async stored() {
      for await (const info of reader.search()) traces.push(info);
      return Promise.all(traces.map(({ trace_id }) => reader.spans(trace_id)));
    },
    address: () => `${server.url}/#/experiments/${traces[0].trace_location.mlflow_experiment?.experiment_id}/traces`,
  };
}

/** @returns {Promise<Started>} */
async function startTrackio() {
  const server = await new Trackio().start();
  const { url, writeToken } = server;
  return {
    url,
    logs: `Trackio at ${url}: logging the recorded rollouts as ids`,
    expected: () => recordedTexts(CAPTURE),
    env: { TRACKIO_WRITE_TOKEN: writeToken },
    command: ["trackio", "enrich", "--server", url, "--project", PROJECT, "--drop-ids"],
    dispose: () => server.dispose(),
    log: async () => succeeded(await new TrackioExporter({ url, writeToken, project: PROJECT, run: "qwen3" }).export((await recordedRollouts(CAPTURE)).flat())),
    async stored() {
      const reader = new TrackioReader({ url });
      const runs = await reader.runs(PROJECT);
      return Promise.all(runs.map(({ id }) => reader.traces({ project: PROJECT, runId: id })));
    },
    address: () => `${url}/traces?project=${PROJECT}  (search for token2text)`,
  };
}
