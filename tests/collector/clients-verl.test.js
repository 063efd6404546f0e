/** verl's own rollouts and tracing code through the relay into real backends, read back by the backends' own clients. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { mlflowServer } from "../integration/support/mlflow.js";
import { Trackio } from "../integration/support/trackio.js";
import { SETTINGS, client, verl } from "./support/clients.js";
import { comparable, noTexts, textsIn } from "./support/records.js";
import { startRelayed } from "./support/relayed.js";
import { withServers } from "./support/servers.js";
import { weaveServer } from "../integration/support/weave.js";

/**
 * @typedef {object} Backend
 * @property {{ url: string, start: () => Promise<unknown>, dispose: () => Promise<void> }} server
 * @property {string} prefix Of projects.
 * @property {(...projects: string[]) => Promise<any[]>} read What is stored in each, in an order that is the same in every run.
 * @property {(path: string) => boolean} isTrace Whether a request has a trace in it.
 */

const { mlflow, trackio, weave } = withServers({ mlflow: mlflowServer(), trackio: new Trackio(), weave: weaveServer() });

/** @type {Record<"mlflow" | "trackio" | "weave", Backend>} */
const BACKENDS = {
  mlflow: {
    server: mlflow,
    prefix: "",
    read: (...projects) => client(SETTINGS.mlflow(mlflow.url), "read_mlflow", ...projects),
    isTrace: (path) => path === "/v1/traces" || path === "/api/3.0/mlflow/traces" || path.endsWith("/artifacts/traces.json"),
  },
  trackio: {
    server: trackio,
    prefix: "",
    read: async (...projects) => {
      const stored = await trackio.ask("stored");
      return projects.map((project) => stored[project].runs.map((/** @type {any} */ run) => ({ ...run, traces: sorted(run.traces) })));
    },
    isTrace: (path) => path === "/api/bulk_log",
  },
  weave: {
    server: weave,
    prefix: "team/",
    read: (...projects) => client(SETTINGS.weave(weave.url), "read_weave", ...projects),
    isTrace: (path) => path.endsWith("/calls/complete"),
  },
};

/** The inputs of verl's parser of tool calls, whose ids verl itself does not decode. @param {any} object */
const isParsers = (object) => "responses_ids" in object;
/**
 * What verl does otherwise: it leaves the parser's ids and the prompt of a call that has failed, and in Trackio's records it puts
 * texts into the messages.
 *
 * @type {import("./support/records.js").Leaves}
 */
const asVerl = (key, of) => (key === "response_text" && isParsers(of)) || (key === "prompt_text" && "request_id" in of) || key === "messages";

/** Trackio gives those of one request in any order. @param {any[]} traces */
function sorted(traces) {
  const key = (/** @type {any} */ trace) => JSON.stringify(comparable(trace, asVerl));
  return [...traces].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

for (const name of /** @type {(keyof typeof BACKENDS)[]} */ (Object.keys(BACKENDS))) {
  test(`rollouts of verl get their texts on their way to ${name}, and nothing else changes`, async () => {
    const { server, prefix, read, isTrace } = BACKENDS[name];
    const relayed = await startRelayed(name, server.url);
    try {
      const [through, direct] = await Promise.all([
        verl(name, relayed.url, `${prefix}through`, "--failing"),
        verl(name, server.url, `${prefix}direct`, "--failing"),
        verl(name, server.url, `${prefix}decoded`, "--failing", "--token2text"),
      ]);
      assert.ok(relayed.changed(({ path }) => isTrace(path)).length > 0);
      assert.deepEqual(through, direct, "the program itself sees no difference");

      const [stored, asIds, asVerlDecodes] = await read(`${prefix}through`, `${prefix}direct`, `${prefix}decoded`);
      assert.deepEqual(textsIn(asIds), []);
      const found = textsIn(stored);
      const wanted = through.calls.map(({ texts }) => texts).sort();
      assert.deepEqual(found.filter(({ of }) => !isParsers(of)).map(({ texts }) => texts).sort(), wanted);
      const answers = new Set(wanted.map((texts) => texts[1]));
      for (const { texts } of found.filter(({ of }) => isParsers(of))) assert.ok(answers.has(texts[0]), texts[0]);

      assert.deepEqual(comparable(stored, noTexts), comparable(asIds, noTexts));
      assert.deepEqual(comparable(stored, asVerl), comparable(asVerlDecodes, asVerl));
    } finally {
      await relayed.close();
    }
  });
}
