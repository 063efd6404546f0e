/** The way to a server, which can be shut: connections are then refused, as by a server that is down, without its long start. */
import { once } from "node:events";
import { connect, createServer } from "node:net";

export class Gate {
  #port = 0;
  /** @type {Set<import("node:net").Socket>} */
  #sockets = new Set();
  #server;

  /** @param {() => string} target Address of the server. */
  constructor(target) {
    this.#server = createServer((socket) => {
      const { hostname, port } = new URL(target());
      const there = connect(Number(port), hostname);
      for (const [from, to] of [[socket, there], [there, socket]]) {
        this.#sockets.add(from);
        from.on("error", () => to.destroy()).on("close", () => this.#sockets.delete(from));
        from.pipe(to);
      }
    });
  }

  get url() {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Opens it, on the port of before if it was open already. */
  async open() {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = /** @type {import("node:net").AddressInfo} */ (this.#server.address()).port;
  }

  async shut() {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}
