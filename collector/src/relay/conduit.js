/**
 * The connection of a client, and the one to the backend that stands for it. They live and end together, so that a client meets the
 * backend's own time limits, closes and limits of connections, and no request waits behind that of another client.
 */
import http from "node:http";
import https from "node:https";

/** @typedef {import("node:net").Socket} Socket */

/** No server of traces sends or takes longer headers. */
export const MOST_HEADER_BYTES = 1 << 20;

/** How long a connection that we end still takes what the client sends, for a reset would overtake the answer. */
const LINGER_MILLIS = 1000;

/** A backend closes idle connections after seconds; a body that was held longer than that goes out by a fresh one. */
const FRESH_MILLIS = 1000;

export class Conduit {
  #socket;
  #upstream;
  #agent;
  /** The backend's, once the last request has one. @type {Socket | undefined} */
  #backend;
  #requests = 0;
  /** Whether the backend has ended its connection. */
  #isLost = false;
  /** Whether no further request is taken. */
  #isDraining = false;
  /** When the last request was over. */
  #idleSince = 0;
  /** The turns of requests that a client sent without waiting for answers. @type {Promise<void>} */
  #turn = Promise.resolve();

  /** @param {Socket} socket The client's. @param {URL} upstream */
  constructor(socket, upstream) {
    this.#socket = socket;
    this.#upstream = upstream;
    this.#agent = this.#newAgent();
    socket.once("close", () => this.#agent.destroy());
    // By this Node ends a connection after its last answer, at once.
    socket.destroySoon = () => this.#end();
  }

  #newAgent() {
    const { Agent } = this.#upstream.protocol === "https:" ? https : http;
    return new Agent({ keepAlive: true, maxSockets: 1 });
  }

  /** Whether the next answer is the last one on this connection. */
  get isEnding() {
    return this.#isLost || this.#isDraining;
  }

  /**
   * Runs a request after those that came before it on this connection, unless it has ended with one of them.
   *
   * @param {() => Promise<void>} request Never fails.
   */
  run(request) {
    this.#requests++;
    this.#turn = this.#turn.then(() => (this.#socket.writableEnded ? undefined : request())).then(() => {
      this.#requests--;
      this.#idleSince = Date.now();
      if (this.isEnding) this.#end();
    });
  }

  /**
   * Begins a request to the backend.
   *
   * @param {object} head
   * @param {string | undefined} head.method
   * @param {string} head.path With the upstream's prefix.
   * @param {string[]} head.headers By turns.
   * @param {boolean} wasHeld Whether the client began it some time ago.
   */
  request({ method, path, headers }, wasHeld) {
    if (wasHeld && Date.now() - this.#idleSince > FRESH_MILLIS) {
      this.#agent.destroy();
      this.#agent = this.#newAgent();
    }
    const { protocol, hostname, port } = this.#upstream;
    const options = {
      method,
      path,
      headers,
      agent: this.#agent,
      // An IPv6 address has brackets in a URL only.
      host: hostname.replace(/^\[|\]$/g, ""),
      port,
      maxHeaderSize: MOST_HEADER_BYTES,
    };
    this.#isLost = false;
    this.#backend = undefined;
    const request = (protocol === "https:" ? https : http).request(/** @type {any} */ (options));
    // Node would end the connection before the time that the backend names; when it ends is for the backend to say.
    request.once("response", ({ headers }) => delete headers["keep-alive"]);
    request.once("socket", (socket) => {
      this.#backend = socket;
      if (request.reusedSocket) return;
      socket.once("close", () => {
        // Another one that has ended was not in use any more.
        if (socket !== this.#backend) return;
        this.#isLost = true;
        if (this.#requests === 0) this.#end();
      });
    });
    return request;
  }

  /** Ends the connection after what is under way. */
  drain() {
    this.#isDraining = true;
    if (this.#requests === 0) this.#end();
  }

  /** Ends the client's connection after what was written to it. */
  #end() {
    const socket = this.#socket;
    if (socket.destroyed || socket.writableEnded) return;
    socket.end();
    socket.resume();
    const timer = setTimeout(() => socket.destroy(), LINGER_MILLIS);
    socket.once("close", () => clearTimeout(timer));
  }

  /**
   * Ends the client's connection as the backend has ended ours: after what it has sent, or by a reset.
   *
   * @param {Error & { code?: string, syscall?: string, rawPacket?: Buffer }} error
   * @param {boolean} hasAnswer Whether the client has got the head of an answer.
   */
  cut(error, hasAnswer) {
    // What is no HTTP is told to the client as it was told to us.
    if (error.rawPacket && !hasAnswer) this.#socket.write(error.rawPacket);
    // Of an error of the system we know by a reset or because nobody listens; of an end, by an end.
    else if (error.syscall) return void this.#socket.resetAndDestroy();
    this.#end();
  }

  /** Ends everything at once. */
  destroy() {
    this.#socket.destroy();
  }
}
