/** What goes wrong at a backend: real clients say and do the same with the relay before it and without. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../integration/support/servers.js";
import { mlflowServer } from "../integration/support/mlflow.js";
import { rotelServer } from "../integration/support/rotel.js";
import { Trackio } from "../integration/support/trackio.js";
import { SETTINGS, client, python } from "./support/clients.js";
import { ANSWER, PROMPT } from "./support/decoded.js";
import { startRecorder } from "./support/recorder.js";
import { startCommand } from "./support/relayed.js";
import { withServers } from "./support/servers.js";
import { weaveServer } from "../integration/support/weave.js";

/** So that nobody waits for minutes. */
const IMPATIENT = {
  MLFLOW_HTTP_REQUEST_TIMEOUT: "2",
  MLFLOW_HTTP_REQUEST_MAX_RETRIES: "1",
  MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR: "0",
  MLFLOW_HTTP_REQUEST_BACKOFF_JITTER: "0",
  OTEL_EXPORTER_OTLP_TIMEOUT: "3",
  WEAVE_RETRY_MAX_ATTEMPTS: "2",
};
const IDS = [PROMPT.ids, ANSWER.ids];
const servers = { mlflow: mlflowServer(), trackio: new Trackio(), weave: weaveServer(), rotel: rotelServer() };
const { mlflow, trackio, weave, rotel } = withServers(servers, async () => {
  // Of two programs at once, one would say that it makes it.
  await client(SETTINGS.mlflow(mlflow.url), "create_mlflow", "faults");
});

/** @type {Record<string, import("./support/recorder.js").Fault>} What becomes of traces that are written. */
const FAULTS = {
  "answers 500": () => ({ status: 500, body: JSON.stringify({ error_code: "INTERNAL_ERROR", error: "the disk is full" }) }),
  "answers 429": () => ({ status: 429, body: "slow down" }),
  "answers garbage": () => ({ status: 200, body: "<html>" }),
  "cuts the connection": () => "cut",
  "is slow": () => delay(4000, { status: 200, body: "{}" }),
};

/**
 * @typedef {object} Program
 * @property {keyof typeof SETTINGS & import("../../collector/src/types.js").Backend} backend
 * @property {{ url: string }} server
 * @property {[string, ...unknown[]]} call Of `clients.py`.
 * @property {RegExp} writes Paths of what is written.
 * @property {(keyof typeof FAULTS)[]} faults
 */
/** @type {Program[]} */
const PROGRAMS = [
  {
    backend: "mlflow",
    server: mlflow,
    call: ["log_mlflow", "faults", ...IDS],
    writes: /^\/v1\/traces$|^\/api\/3\.0\/mlflow\/traces$|\/traces\.json$/,
    faults: ["answers 500", "answers garbage", "cuts the connection", "is slow"],
  },
  { backend: "otlp", server: rotel, call: ["log_otlp", ...IDS, {}], writes: /^\/v1\/traces$/, faults: ["answers 429", "cuts the connection"] },
  { backend: "trackio", server: trackio, call: ["log_trackio", "faults", ...IDS], writes: /bulk_log$/, faults: ["answers 500"] },
  { backend: "weave", server: weave, call: ["log_weave", "team/faults", ...IDS], writes: /\/calls\/complete$/, faults: ["answers 500"] },
];

/** What a program says, without what differs from run to run. @param {import("./support/clients.js").Ended} ended */
function said({ status, errors, result }) {
  const words = errors
    .replaceAll(/127\.0\.0\.1:\d+|port=\d+/g, "<address>")
    .replaceAll(/\b[0-9a-f-]{16,36}\b|0x[0-9a-f]+|\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d/g, "<id>")
    .replaceAll(/\d+\.\d+ ?s|\bsize \d+|len\(batch\)=\d+/g, "<number>")
    .split("\n")
    .filter((line) => !/Flushing (?:tasks|\d+ pending)/.test(line));
  // Several threads speak.
  return { status, words: [...new Set(words)].sort(), result: JSON.stringify(result)?.replaceAll(/[0-9a-f]{32}/g, "<id>") };
}

/**
 * The relay takes the connection, which nobody behind it does, and resets it: the operating system's reason is another one.
 *
 * @param {import("./support/clients.js").Ended} ended
 */
function withoutReason(ended) {
  const last = ended.errors.trimEnd().split("\n").at(-1) ?? "";
  return said({ ...ended, errors: last.replace(/\(Caused by (?:NewConnectionError|ProtocolError)\(.*/, "<no connection>") });
}

/** @param {Program} program @param {string} url */
const run = ({ backend, call: [name, ...args] }, url) => python("clients.py", [name, JSON.stringify(args)], { ...SETTINGS[backend](url), ...IMPATIENT });

for (const program of PROGRAMS) {
  for (const what of program.faults) {
    test(`${program.call[0]}: a backend that ${what}`, async () => {
      const { backend, server, writes } = program;
      const faulty = await startRecorder(server.url, (request) => (writes.test(request.path) ? FAULTS[what](request) : undefined));
      const relay = await startCommand(backend, faulty.url);
      try {
        const [through, without] = await Promise.all([run(program, relay.url), run(program, faulty.url)]);
        assert.deepEqual(said(through), said(without));
      } finally {
        await relay.close();
        await faulty.close();
      }
    });
  }
}

for (const program of PROGRAMS.slice(0, 2)) {
  test(`${program.call[0]}: nobody listens at the backend's address`, async () => {
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const relay = await startCommand(program.backend, nobody);
    try {
      const [through, without] = await Promise.all([run(program, relay.url), run(program, nobody)]);
      assert.match(without.errors, /refused/);
      assert.deepEqual(withoutReason(through), withoutReason(without));
    } finally {
      await relay.close();
    }
  });
}
