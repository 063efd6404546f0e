/**
 * The connection to the server of the queue. It is kept: when the server goes away it is asked again until it is back, and meanwhile
 * whoever wants something of it is told so at once.
 */
import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, credsAuthenticator } from "@nats-io/transport-node";
import { Away, inWords, isMistake } from "./problems.js";

/** @typedef {import("@nats-io/transport-node").NatsConnection} NatsConnection */
/** @typedef {import("../types.js").QueueTarget} QueueTarget */
/**
 * What can be done while the server is there.
 *
 * @typedef {object} Session
 * @property {NatsConnection} connection
 * @property {import("@nats-io/jetstream").JetStreamClient} client
 * @property {import("@nats-io/jetstream").JetStreamManager} manager
 */

const CONNECT_MILLIS = 5000;
const AGAIN_MILLIS = 500;
/** Without an answer for twice that long, the server counts as away. */
const PING_MILLIS = 10_000;

/** @template Prepared */
export class Connection {
  #target;
  #prepare;
  #log;
  /** @type {NatsConnection | undefined} */
  #connection;
  /** Absent while the server is away. @type {(Session & { prepared: Prepared }) | undefined} */
  #session;
  /** Why it is away. */
  #problem = "it has not been asked yet";
  #stop = new AbortController();
  /** Those who wait for an answer. @type {Set<(error: Error) => void>} */
  #asking = new Set();
  /** Those who wait for the server. @type {Set<() => void>} */
  #waiting = new Set();

  /**
   * @param {QueueTarget} target
   * @param {(session: Session) => Promise<Prepared>} prepare What is to be done whenever the server is there again, before anything else.
   * @param {import("pino").Logger} log
   */
  constructor(target, prepare, log) {
    this.#target = target;
    this.#prepare = prepare;
    this.#log = log.child({ queue: target.url });
  }

  /**
   * Connects. A server that is away may come, so that is no error.
   *
   * @throws {Error} What will not be well by itself: credentials that the server does not know, a stream with other settings.
   */
  async open() {
    try {
      await this.#start();
    } catch (error) {
      await this.#end();
      if (isMistake(error)) throw new Error(`--queue: ${this.#target.url}: ${inWords(error)}`, { cause: error });
      this.#lost(inWords(error));
    }
    this.#keep();
  }

  /** @throws {Away} */
  get session() {
    if (!this.#session) throw this.#away();
    return this.#session;
  }

  get problem() {
    return this.#session ? undefined : this.#problem;
  }

  /** Waits until the server is there, or nobody wants to know any more. @param {AbortSignal} signal */
  async present(signal) {
    if (this.#session || signal.aborted) return;
    await new Promise((resolve) => {
      const done = () => resolve(undefined);
      this.#waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  /**
   * Asks, and is rejected at once when the server goes away: it may then have done what it was asked or not.
   *
   * @template Answer
   * @param {(session: Session & { prepared: Prepared }) => Promise<Answer>} ask
   * @returns {Promise<Answer>}
   * @throws {Away}
   */
  ask(ask) {
    return new Promise((resolve, reject) => {
      if (!this.#session) return reject(this.#away());
      this.#asking.add(reject);
      ask(this.#session).then(resolve, reject).finally(() => this.#asking.delete(reject));
    });
  }

  /** Prepares once more what somebody may have taken away. */
  async renew() {
    if (!this.#session || !this.#connection) return;
    await this.#begin(this.#connection).catch((error) => this.#log.warn({ reason: inWords(error) }, "the queue is not as it has to be"));
  }

  /** Ends it, when what was written has been sent. */
  async close() {
    this.#stop.abort();
    if (this.#session) await this.#connection?.drain().catch(() => {});
    await this.#end();
    this.#session = undefined;
  }

  /** Until it is closed. */
  async #keep() {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const connection = this.#connection ?? (await this.#start());
        await this.#watch(connection);
      } catch (error) {
        this.#lost(inWords(error));
      }
      await this.#end();
      await setTimeout(AGAIN_MILLIS, undefined, { signal }).catch(() => {});
    }
  }

  async #start() {
    const connection = (this.#connection = await this.#connect());
    await this.#begin(connection);
    return connection;
  }

  async #end() {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  /** Follows what becomes of a connection, which reconnects by itself, until it ends. @param {NatsConnection} connection */
  async #watch(connection) {
    for await (const status of connection.status()) {
      if (status.type === "disconnect") this.#lost("the connection was lost");
      if (status.type === "error") this.#log.warn({ reason: inWords(status.error) }, "the queue's server has something against it");
      if (status.type === "reconnect") await this.#begin(connection);
    }
    if (!this.#stop.signal.aborted) this.#lost("the connection ended");
  }

  /** @param {NatsConnection} connection */
  async #begin(connection) {
    const manager = await jetstreamManager(connection);
    const session = { connection, manager, client: jetstream(connection) };
    const isBack = !this.#session;
    this.#session = { ...session, prepared: await this.#prepare(session) };
    if (isBack) this.#log.info("the queue is there");
    for (const resolve of this.#waiting) resolve();
    this.#waiting.clear();
  }

  /** @param {string} problem */
  #lost(problem) {
    if (this.#session || problem !== this.#problem) this.#log.warn({ reason: problem }, "the queue is away; it is asked again until it is there");
    this.#session = undefined;
    this.#problem = problem;
    for (const reject of this.#asking) reject(this.#away());
    this.#asking.clear();
  }

  #away() {
    return new Away(`the queue ${this.#target.url} is away: ${this.#problem}`);
  }

  #connect() {
    const { url, options: { user, password, token, creds, ca, cert, key } } = this.#target;
    return connect({
      servers: url.replace(/^\w+:\/\//, ""),
      name: "token2text-collector",
      ...(user !== undefined && { user, pass: password }),
      ...(token !== undefined && { token }),
      // Read each time, for they are renewed.
      ...(creds !== undefined && { authenticator: credsAuthenticator(() => readFileSync(creds)) }),
      ...((url.startsWith("tls:") || ca || cert) && { tls: { caFile: ca, certFile: cert, keyFile: key } }),
      timeout: CONNECT_MILLIS,
      reconnectTimeWait: AGAIN_MILLIS,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
      pingInterval: PING_MILLIS,
      noAsyncTraces: true,
    });
  }
}
