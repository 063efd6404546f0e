/** Collectors with a store in this process, which wait for milliseconds where the command waits for seconds. */
import { setTimeout as sleep } from "node:timers/promises";
import { exportName } from "../../../collector/src/configuration/targets.js";
import { createMetrics } from "../../../collector/src/operations/metrics.js";
import { startForwarding } from "../../../collector/src/forwarding/forwarding.js";
import { startReceiver } from "../../../collector/src/receive/receiver.js";
import { openStore } from "../../../collector/src/store/store.js";
import { anywhere, configuration } from "./collector.js";
import { logLines } from "./pool.js";

/** @typedef {import("../../../collector/src/types.js").ExportTarget} ExportTarget */
/** @typedef {import("../../../collector/src/types.js").Store} Store */
/** @typedef {import("./spans.js").Sent} Sent */

const SCALE = { firstMillis: 20, mostMillis: 200 };
const PATIENCE_MILLIS = 60_000;

/**
 * Starts one on a file; `lines` are those of its log.
 *
 * @param {import("../../../collector/src/types.js").Enrichments} enrichments
 * @param {string} file Of the store.
 * @param {ExportTarget[]} exports
 * @param {Partial<import("../../../collector/src/types.js").Configuration> & { through?: (store: Store) => Store }} [more] `through`: what the
 *   forwarder has in place of the store.
 */
export async function startForwarder(enrichments, file, exports, { through = (store) => store, ...more } = {}) {
  const { log, lines } = logLines();
  const metrics = createMetrics();
  const settings = configuration({ receive: anywhere, exports, store: { file, bytes: 1 << 30 }, ...more });
  const store = await openStore({ file, bytes: 1 << 30, exports: exports.map(exportName) }, { metrics, log });
  const context = { configuration: settings, enrichments, metrics, log, store };
  const receiver = await startReceiver(context, anywhere);
  const forwarding = startForwarding(context, through(store), SCALE);
  return {
    url: `http://${receiver.address.host}:${receiver.address.port}`,
    store,
    forwarding,
    metrics,
    lines,
    async close() {
      await receiver.close();
      await forwarding.close();
      await store.close();
    },
  };
}

/** Sends a body, which must be acknowledged. @param {string} url @param {Sent} sent */
export async function send(url, { body, contentType }) {
  const answer = await fetch(`${url}/v1/traces`, { method: "POST", headers: { "content-type": contentType }, body: Buffer.from(body) });
  if (answer.status !== 200) throw new Error(`status ${answer.status}: ${await answer.text()}`);
}

/**
 * Waits until it is so.
 *
 * @param {() => unknown} isSo
 * @param {() => unknown} [what] Said if it never is.
 * @param {number} [everyMillis] How often it is looked; looking costs servers time.
 */
export async function until(isSo, what = () => isSo, everyMillis = 10) {
  for (const start = performance.now(); !(await isSo()); await sleep(everyMillis)) {
    if (performance.now() - start > PATIENCE_MILLIS) throw new Error(`it never was so: ${await what()}`);
  }
}
