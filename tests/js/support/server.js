/** A server in this process. */
import { after, before } from "node:test";

/**
 * Lets a server listen on a free port from before the first test of a file until after the last.
 *
 * @param {import("node:http").Server} server
 * @param {(url: string) => void} tell Is told its address.
 */
export function listening(server, tell) {
  // A test may keep this thread for longer than Node keeps idle connections, and fetch would then find one that is being closed.
  server.keepAliveTimeout = 0;
  before(async () => {
    await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
    tell(`http://127.0.0.1:${/** @type {import("node:net").AddressInfo} */ (server.address()).port}`);
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });
}
