/** The collector as a function: starts the pool and every listener that was asked for. */
import { startAdmin } from "./operations/admin.js";
import { createMetrics } from "./operations/metrics.js";
import { createEnrichments } from "./enrichment/pool.js";
import { startReceiver } from "./receive/receiver.js";
import { openQueue } from "./queue/queue.js";
import { startRelay } from "./relay/relay.js";

/** @typedef {import("./types.js").Configuration} Configuration */
/** @typedef {import("./types.js").Listener} Listener */

/**
 * @param {Configuration} configuration
 * @param {import("pino").Logger} log
 * @returns {Promise<{ listeners: Listener[], close: () => Promise<void> }>} `close` lets what is under way end.
 */
export async function start(configuration, log) {
  const metrics = createMetrics();
  const enrichments = await createEnrichments(configuration, log);
  /** @type {import("./types.js").Context} */
  const context = { configuration, enrichments, metrics, log };
  /** @type {Listener[]} */
  const listeners = [];
  const close = async () => {
    await Promise.all([...listeners.map((listener) => listener.close()), context.queue?.stop()]);
    await context.queue?.close();
    await enrichments.close();
  };
  try {
    if (configuration.queue) context.queue = await openQueue(context, configuration.queue);
    for (const target of configuration.relays) listeners.push(await startRelay(context, target));
    if (configuration.receive) listeners.push(await startReceiver(context, configuration.receive));
    if (configuration.admin) listeners.push(await startAdmin(context, configuration.admin, listeners));
  } catch (error) {
    await close();
    throw error;
  }
  return { listeners, close };
}
