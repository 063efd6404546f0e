/**
 * Records what verl's own `rollout_trace.py` sends for the calls of tests/fixtures/rollout-trace/calls.json, with the backends' own
 * clients, to real servers (of Weave W&B's in-memory class): a file for each backend, without and with verl's `token2text`.
 *
 *   node tests/collector/record-rollout-trace.js
 */
import { writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { mlflowServer } from "../integration/support/mlflow.js";
import { Trackio } from "../integration/support/trackio.js";
import { weaveServer } from "../integration/support/weave.js";
import { SETTINGS, python } from "./support/clients.js";
import { tokenizerFile } from "./support/collector.js";
import { startRecorder } from "./support/recorder.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");
const FOLDER = fileURLToPath(new URL("../fixtures/rollout-trace/", import.meta.url));
/** Requests that hold something of a trace. */
const OF_TRACES = /\/v1\/traces$|\/api\/3\.0\/mlflow\/traces$|\/api\/bulk_log$|\/calls\/complete$/;

/** @type {[name: "mlflow" | "trackio" | "weave", server: { url: string, start: () => Promise<unknown>, dispose: () => Promise<void> }, project: string][]} */
const BACKENDS = [
  ["mlflow", mlflowServer(), "calls"],
  ["trackio", new Trackio(), "calls"],
  ["weave", weaveServer(), "team/calls"],
];

for (const [name, server, project] of BACKENDS) {
  await server.start();
  for (const [kind, ...options] of [["ids"], ["text", "--token2text"]]) {
    const recorder = await startRecorder(server.url);
    const args = [name, `${project}-${kind}`, `${FOLDER}calls.json`, tokenizerFile, ...options];
    const { status, errors, result: versions } = await python("rollout_trace.py", args, SETTINGS[name](recorder.url));
    if (status !== 0) throw new Error(`verl failed\n${errors}`);
    const requests = recorder.exchanges.filter(({ method, path }) => method === "POST" && OF_TRACES.test(path)).map(requestOf);
    writeFileSync(`${FOLDER}${name}-${kind}.json`, `${JSON.stringify({ versions, requests }, null, 1)}\n`);
    await recorder.close();
  }
  await server.dispose();
}

/**
 * JSON as it is, protocol buffers in base64; without what only tells of the machine.
 *
 * @param {import("./support/recorder.js").Exchange} exchange
 */
function requestOf({ path, body }) {
  const unzipped = body[0] === 0x1f ? gunzipSync(body) : body;
  // As long, for protocol buffers tell lengths.
  const hidden = [ROOT, homedir()].reduce((text, path) => text.replaceAll(path, "/".padEnd(path.length, "x")), unzipped.toString("latin1"));
  const plain = Buffer.from(hidden, "latin1");
  if (plain[0] !== 0x7b) return { path, base64: plain.toString("base64") };
  const json = JSON.parse(plain.toString());
  for (const { attributes } of json.batch ?? []) attributes.weave = { client_version: attributes.weave.client_version };
  return { path, json };
}
