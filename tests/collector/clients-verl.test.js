/** verl's own rollouts and tracing code through the relay into real backends, read back by the backends' own clients. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { mlflowServer } from "../integration/support/mlflow.js";
import { Trackio } from "../integration/support/trackio.js";
import { SETTINGS, client, verl } from "./support/clients.js";
import { comparable, textsIn } from "./support/records.js";
import { startRelayed } from "./support/relayed.js";
import { weaveServer } from "./support/weave.js";

/**
 * @typedef {object} Backend
 * @property {{ url: string, start: () => Promise<unknown>, dispose: () => Promise<void> }} server
 * @property {string} prefix Of projects.
 * @property {(project: string) => Promise<any[]>} read What is stored, in the order in which it was logged.
 * @property {(path: string) => boolean} isTrace Whether a request has a trace in it.
 */

const mlflow = mlflowServer();
const trackio = new Trackio();
const weave = weaveServer();
const step = (/** @type {any} */ trace) => Number(trace.info.tags.sample_index);

/** @type {Record<"mlflow" | "trackio" | "weave", Backend>} */
const BACKENDS = {
  mlflow: {
    server: mlflow,
    prefix: "",
    read: async (project) => (await client(SETTINGS.mlflow(mlflow.url), "read_mlflow", project)).sort((/** @type {any} */ a, /** @type {any} */ b) => step(a) - step(b)),
    isTrace: (path) => path === "/v1/traces",
  },
  trackio: {
    server: trackio,
    prefix: "",
    read: async (project) => (await trackio.ask("stored"))[project].runs,
    isTrace: (path) => path === "/api/bulk_log",
  },
  weave: {
    server: weave,
    prefix: "team/",
    read: (project) => client(SETTINGS.weave(weave.url), "read_weave", project),
    isTrace: (path) => path.endsWith("/calls/complete"),
  },
};

before(() => Promise.all(Object.values(BACKENDS).map(({ server }) => server.start())));
after(() => Promise.all(Object.values(BACKENDS).map(({ server }) => server.dispose())));

for (const name of /** @type {(keyof typeof BACKENDS)[]} */ (Object.keys(BACKENDS))) {
  test(`rollouts of verl get their texts on their way to ${name}, and nothing else changes`, async () => {
    const { server, prefix, read, isTrace } = BACKENDS[name];
    const relayed = await startRelayed(name, server.url);
    try {
      const through = await verl(name, relayed.url, `${prefix}through`, "--failing");
      const changed = relayed.changed(({ path }) => isTrace(path));
      assert.ok(changed.length > 0);
      const direct = await verl(name, server.url, `${prefix}direct`, "--failing");
      assert.deepEqual(through, direct, "the program itself sees no difference");
      const decoded = await verl(name, server.url, `${prefix}decoded`, "--failing", "--token2text");

      const [stored, asIds, asVerlDecodes] = [await read(`${prefix}through`), await read(`${prefix}direct`), await read(`${prefix}decoded`)];
      const texts = through.calls.map((call) => call.texts);
      assert.deepEqual(new Set(textsIn(stored).map(String)), new Set(texts.map(String)));
      assert.deepEqual(textsIn(asIds), []);
      assert.deepEqual(comparable(stored, { texts: false }), comparable(asIds, { texts: false }));
      assert.deepEqual(comparable(stored, { texts: true }), comparable(asVerlDecodes, { texts: true }));
    } finally {
      await relayed.close();
    }
  });
}
