/** Forwards what is stored to every export, each at its own pace. */
import { createClient } from "../receive/client.js";
import { createExports } from "../receive/exports.js";
import { Forwarder } from "./forwarder.js";

/**
 * @param {import("../types.js").Context} context
 * @param {import("../types.js").Store} store
 * @param {import("./backoff.js").Scale} [scale]
 * @returns {import("../types.js").Forwarding}
 */
export function startForwarding(context, store, scale) {
  const client = createClient();
  const exports = createExports(context.configuration.exports, client.fetch);
  const forwarders = exports.map((to) => new Forwarder(to, context, store, scale));
  return {
    health: () => forwarders.map(({ health }) => health),
    async close() {
      await Promise.all(forwarders.map((forwarder) => forwarder.close()));
      await client.close();
    },
  };
}
