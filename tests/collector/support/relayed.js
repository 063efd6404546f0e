/** A backend with a relay before it, and a recorder on either side of the relay. */
import { startCollector } from "./collector.js";
import { assertPassed, startRecorder } from "./recorder.js";

/**
 * @param {import("../../../collector/src/types.js").Backend} backend
 * @param {string} upstream
 * @param {{ more?: Partial<import("../../../collector/src/types.js").Configuration>, fault?: import("./recorder.js").Fault }} [options]
 *   `fault`: what the backend does wrong.
 */
export async function startRelayed(backend, upstream, { more, fault } = {}) {
  const behind = await startRecorder(upstream, fault);
  const collector = await startCollector({ relays: [{ backend, listen: { host: "127.0.0.1", port: 0 }, upstream: new URL(behind.url) }], ...more });
  const before = await startRecorder(collector.urls[0]);
  return {
    /** For clients. */
    url: before.url,
    /** @param {(exchange: import("./recorder.js").Exchange) => boolean} mayChange */
    changed: (mayChange) => assertPassed(before.exchanges, behind.exchanges, mayChange),
    async close() {
      await before.close();
      await collector.close();
      await behind.close();
    },
  };
}
