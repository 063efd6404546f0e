/** Real servers for the tests of a file. */
import { after, before } from "node:test";

/**
 * Starts servers before the first test of a file, and ends them after the last.
 *
 * @template {Record<string, { start: () => Promise<unknown>, dispose: () => Promise<unknown> }>} Servers
 * @param {Servers} servers By name.
 * @param {() => Promise<void>} [prepare] Once they have started. Another `before` would not wait for this one.
 * @returns {Servers} The same.
 */
export function withServers(servers, prepare) {
  before(async () => {
    await Promise.all(Object.values(servers).map((server) => server.start()));
    await prepare?.();
  });
  after(() => Promise.all(Object.values(servers).map((server) => server.dispose())));
  return servers;
}
