/**
 * The demo's part with verl: its agent loop and its `rollout_trace.py`, from the wheel, run rollouts with a scripted model and log
 * them to an MLflow of this machine, through the collector.
 */
import { MlflowReader } from "../pkg/exporters/mlflow.js";
import { verl } from "../tests/collector/support/clients.js";
import { startCommand } from "../tests/collector/support/relayed.js";
import { step } from "./lib.js";

const PROJECT = "verl-through-the-relay";

/** @param {string | undefined} upstream The MLflow. @returns {Promise<import("./demo-backends.js").Started>} */
export async function startVerl(upstream) {
  if (upstream === undefined) throw new Error("it needs the MLflow");
  const relay = await startCommand("mlflow", upstream);
  step(`token2text-collector --tokenizer tokenizer.json --relay mlflow=${new URL(relay.url).host},${upstream}`);
  const reader = new MlflowReader({ url: upstream, experiment: PROJECT });
  /** @type {string[]} */
  let texts = [];
  /** @type {import("../pkg/exporters/mlflow-reader.js").TraceInfo[]} */
  const traces = [];
  return {
    url: relay.url,
    logs: `MLFLOW_TRACKING_URI=${relay.url} verl: its rollouts with a tool and a scripted model`,
    async log() {
      texts = (await verl("mlflow", relay.url, PROJECT)).calls.flatMap((call) => call.texts);
    },
    expected: () => texts,
    async stored() {
      for await (const info of reader.search()) traces.push(info);
      return Promise.all(traces.map(({ trace_id }) => reader.spans(trace_id)));
    },
    // Of one rollout; its root has neither inputs nor outputs.
    address() {
      const [{ trace_id, trace_location }] = traces;
      return `${upstream}/#/experiments/${trace_location.mlflow_experiment?.experiment_id}/traces?selectedEvaluationId=${trace_id}  (open LLMServerClient.generate)`;
    },
    dispose: relay.close,
  };
}
