/** The collector as a function: starts the pool and every listener that was asked for. */
import { startAdmin } from "./operations/admin.js";
import { createMetrics } from "./operations/metrics.js";
import { createEnrichments } from "./enrichment/pool.js";
import { startReceiver } from "./receive/receiver.js";
import { startRelay } from "./relay/relay.js";
import { exportName } from "./configuration/targets.js";
import { startForwarding } from "./forwarding/forwarding.js";
import { openStore } from "./store/store.js";

/** @typedef {import("./types.js").Configuration} Configuration */
/** @typedef {import("./types.js").Listener} Listener */

/**
 * @param {Configuration} configuration
 * @param {import("pino").Logger} log
 * @returns {Promise<{ listeners: Listener[], close: () => Promise<void> }>} `close` lets what is under way end.
 */
export async function start(configuration, log) {
  const metrics = createMetrics();
  const { file, ...bounds } = configuration.store;
  const store = file === undefined ? undefined : await openStore({ file, ...bounds, exports: configuration.exports.map(exportName) }, { metrics, log });
  /** What is to be closed, in this order. @type {(() => Promise<unknown>)[]} */
  const closers = [async () => store?.close()];
  /** @type {Listener[]} */
  const listeners = [];
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
    for (const close of closers) await close();
  };
  try {
    const enrichments = await createEnrichments(configuration, log);
    closers.unshift(() => enrichments.close());
    /** @type {import("./types.js").Context} */
    const context = { configuration, enrichments, metrics, log, store };
    for (const target of configuration.relays) listeners.push(await startRelay(context, target));
    if (configuration.receive) listeners.push(await startReceiver(context, configuration.receive));
    if (store && configuration.exports.length > 0) {
      const forwarding = startForwarding(context, store);
      context.forwarding = forwarding;
      closers.unshift(() => forwarding.close());
    }
    if (configuration.admin) listeners.push(await startAdmin(context, configuration.admin, listeners));
  } catch (error) {
    await close();
    throw error;
  }
  return { listeners, close };
}
