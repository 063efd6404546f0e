/** `--sample` with verl's rollouts: a sample has its texts in all its rollouts or in none, and every backend has the same ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mlflowServer } from "../integration/support/mlflow.js";
import { Trackio } from "../integration/support/trackio.js";
import { SETTINGS, client, verl } from "./support/clients.js";
import { textsIn } from "./support/records.js";
import { startCommand } from "./support/relayed.js";
import { withServers } from "./support/servers.js";
import { weaveServer } from "../integration/support/weave.js";

const OPTIONS = ["--samples", "4", "--rollouts", "2", "--step", "1"];
const servers = withServers({ mlflow: mlflowServer(), trackio: new Trackio(), weave: weaveServer() });
const { mlflow, trackio, weave } = servers;

/** @param {keyof typeof servers} backend @param {string} project */
async function log(backend, project) {
  const relay = await startCommand(backend, servers[backend].url, "--sample", "50%");
  try {
    await verl(backend, relay.url, project, ...OPTIONS);
  } finally {
    await relay.close();
  }
}

/**
 * The samples that have texts.
 *
 * @param {{ sample: number, record: any }[]} records Those that have ids.
 */
function decoded(records) {
  /** @type {Map<number, Set<boolean>>} */
  const bySample = new Map();
  for (const { sample, record } of records) bySample.set(sample, (bySample.get(sample) ?? new Set()).add(textsIn(record).length > 0));
  for (const [sample, states] of bySample) assert.equal(states.size, 1, `sample ${sample} is decoded in part`);
  return [...bySample].filter(([, states]) => states.has(true)).map(([sample]) => sample).sort();
}

/** @param {any} record */
const hasIds = (record) => /_ids/.test(JSON.stringify(record));

test("Trackio and Weave have the same samples in text", async () => {
  await Promise.all([log("trackio", "sampled"), log("weave", "team/sampled")]);
  const [run] = (await trackio.ask("stored")).sampled.runs;
  const [calls] = await client(SETTINGS.weave(weave.url), "read_weave", "team/sampled");
  const inTrackio = decoded(run.traces.filter(hasIds).map((/** @type {any} */ record) => ({ sample: record.metadata.sample_index, record })));
  const inWeave = decoded(calls.filter(hasIds).map((/** @type {any} */ record) => ({ sample: record.attributes.sample_index, record })));
  assert.deepEqual(inTrackio, inWeave);
  assert.ok(inTrackio.length > 0 && inTrackio.length < 4, `${inTrackio}`);
});

test("MLflow has each trace in text or not", async () => {
  await log("mlflow", "sampled");
  const [traces] = await client(SETTINGS.mlflow(mlflow.url), "read_mlflow", "sampled");
  assert.equal(traces.length, 8);
  // Of one trace, as if each were a sample: MLflow's spans come before what tells the sample.
  for (const { spans } of traces) decoded(spans.filter(hasIds).map((/** @type {any} */ record) => ({ sample: 0, record })));
});
