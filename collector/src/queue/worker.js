/**
 * Takes bodies out of the stream, decodes and exports them. A message is acknowledged when every export has its spans; until then the server
 * keeps it, and gives it to another worker if this one is lost.
 */
import { setTimeout } from "node:timers/promises";
import { Backoff, SCALE } from "../forwarding/backoff.js";
import { judge } from "../forwarding/judgement.js";
import { PROTOBUF } from "../receive/answers.js";
import { createPassing } from "../receive/passing.js";
import { encodingOf } from "../receive/request.js";
import { Refusal } from "../receive/refusal.js";
import { countSpans } from "../receive/span-count.js";
import { NotOpened, open } from "../relay/encodings.js";
import { Allowance } from "../relay/held.js";
import { bury } from "./dead-letters.js";
import { inWords } from "./problems.js";
import { ackWaitOf } from "./streams.js";

/** @typedef {import("@nats-io/jetstream").JsMsg} JsMsg */
/** @typedef {import("../types.js").Context} Context */
/** @typedef {import("./dead-letters.js").Cause} Cause */
/** @typedef {import("./connection.js").Connection<import("@nats-io/jetstream").ConsumerInfo | undefined>} Connection */
/** What becomes of a message. @typedef {"exported" | "again" | "dead" | "back"} Outcome */

const NAME = "queue";
/** So many messages are asked for at once, and as long as they may have so many bytes; again, when half of them are settled. */
const MOST_MESSAGES = 64;
const MOST_BYTES = 64 << 20;
/** A request for messages is open for that long. */
const PULL_MILLIS = 30_000;
const AGAIN_MILLIS = 1000;
/** An export that fails without saying over what gets a body so often. */
const MOST_UNCLEAR = 5;
/** Of the time for stopping, what is waited before messages are given back. */
const PATIENCE = 0.8;
const OVERLOADED = "there is no room for more bodies (--max-held)";

export class Worker {
  #context;
  #options;
  #connection;
  #passing;
  #log;
  /** Messages under way, and when they have ended. @type {Map<JsMsg, Promise<void>>} */
  #held = new Map();
  /** How many messages are asked for. */
  #most = MOST_MESSAGES;
  #backoff = new Backoff();
  /** When bodies are asked for again, after exports have failed. */
  #restsUntil = 0;
  #stop = new AbortController();
  /** @type {import("@nats-io/jetstream").ConsumerMessages | undefined} */
  #batch;
  #running;

  /** @param {Context} context @param {import("../types.js").QueueTarget} target @param {Connection} connection */
  constructor(context, { options }, connection) {
    this.#context = context;
    this.#options = options;
    this.#connection = connection;
    this.#passing = createPassing(context, NAME);
    this.#log = context.log.child({ listener: NAME });
    this.#running = this.#run();
  }

  /** Takes no more messages, waits for those under way, and gives back what takes too long. */
  async close() {
    const { drainMillis } = this.#context.configuration.limits;
    this.#stop.abort();
    this.#batch?.close();
    await this.#running;
    const ended = Promise.all(this.#held.values());
    const late = new AbortController();
    await Promise.race([ended, setTimeout(drainMillis * PATIENCE, undefined, { signal: late.signal }).catch(() => {})]);
    late.abort();
    for (const message of this.#held.keys()) message.nak();
    await ended;
    await this.#passing.close();
  }

  async #run() {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      while (this.#held.size > this.#most / 2) await Promise.race(this.#held.values());
      await setTimeout(Math.max(0, this.#restsUntil - Date.now()), undefined, { signal }).catch(() => {});
      await this.#connection.present(signal);
      if (signal.aborted) return;
      try {
        await this.#pull();
      } catch (error) {
        this.#log.debug({ reason: inWords(error) }, "no messages could be asked for");
        // The stream may have been taken away, or its consumer.
        await this.#connection.renew();
        await setTimeout(AGAIN_MILLIS, undefined, { signal }).catch(() => {});
      }
    }
  }

  /** Asks for messages, and takes those that come. */
  async #pull() {
    const { client, connection, prepared } = this.#connection.session;
    if (!prepared) return;
    const consumer = client.consumers.getConsumerFromInfo(prepared);
    // By bytes, servers before 2.10 say nothing when a request has ended.
    this.#most = Math.max(1, Math.min(MOST_MESSAGES, Math.floor(MOST_BYTES / (connection.info?.max_payload ?? 1))));
    this.#batch = await consumer.fetch({ max_messages: this.#most, expires: PULL_MILLIS });
    for await (const message of this.#batch) {
      const done = this.#take(message, ackWaitOf(prepared));
      this.#held.set(message, done);
      done.finally(() => this.#held.delete(message));
    }
  }

  /** Never fails. @param {JsMsg} message @param {number} ackWaitMillis */
  async #take(message, ackWaitMillis) {
    const alive = setInterval(() => message.working(), ackWaitMillis / 3);
    try {
      this.#context.metrics.settled(await this.#settle(message));
    } catch (error) {
      // The server gives it to another worker, or to this one, later.
      this.#log.error({ err: error }, "a body could not be settled; it comes again");
      message.nak(AGAIN_MILLIS);
    } finally {
      clearInterval(alive);
    }
  }

  /** @param {JsMsg} message @returns {Promise<Outcome>} */
  async #settle(message) {
    const [held, opened] = [new Allowance(this.#context), new Allowance(this.#context)];
    try {
      const cause = held.take(message.data.length) === "overloaded" ? this.#again(message, OVERLOADED) : await this.#deliver(message, opened);
      if (cause === "again") return "again";
      if (cause) {
        await this.#connection.ask((session) => bury(session, this.#options, message, cause));
        this.#log.warn({ ...cause, deliveries: message.info.deliveryCount }, "a body went to the dead letters");
      }
      const isOurs = await message.ackAck();
      return isOurs ? (cause ? "dead" : "exported") : "back";
    } finally {
      held.release();
      opened.release();
    }
  }

  /**
   * Exports what a message holds.
   *
   * @param {JsMsg} message
   * @param {Allowance} allowance For what it is decompressed to.
   * @returns {Promise<Cause | "again" | undefined>} Why it never will be, or that it was given back; nothing if it is done.
   */
  async #deliver(message, allowance) {
    const field = (/** @type {string} */ name) => message.headers?.get(name) || undefined;
    const contentType = encodingOf(field("Content-Type") ?? PROTOBUF);
    if (!contentType) return { reason: `its content type is ${field("Content-Type")}` };
    try {
      const { body } = await open(field("Content-Encoding"), [Buffer.from(message.data)], allowance);
      const spans = countSpans(body, contentType);
      if (spans === 0) return undefined;
      const { results } = await this.#passing.pass({ body, contentType });
      return this.#judged(message, results, spans);
    } catch (error) {
      if (error instanceof NotOpened && error.reason === "overloaded") return this.#again(message, OVERLOADED);
      if (error instanceof NotOpened || error instanceof Refusal) return { reason: error.message };
      throw error;
    }
  }

  /** @param {JsMsg} message @param {import("../receive/exports.js").Exported[]} results @param {number} spans */
  #judged(message, results, spans) {
    const { deliveryCount } = message.info;
    const judged = results.map((result) => ({ ...result, judgement: judge(result) }));
    const again = judged.filter(({ judgement }) => judgement === "again" || (judgement === "unclear" && deliveryCount < MOST_UNCLEAR));
    if (again.length > 0) {
      return this.#again(message, again.map(({ name, message }) => `${name}: ${message}`).join("; "), Math.max(...again.map(({ retryAfterMs = 0 }) => retryAfterMs)));
    }
    if (this.#restsUntil > 0) this.#log.info("bodies are exported again");
    this.#restsUntil = 0;
    this.#backoff.reset();
    const refused = judged.filter(({ judgement }) => judgement !== "delivered");
    if (refused.length === 0) return undefined;
    const reason = refused.map(({ name, message, lost = spans }) => `${name} has not stored ${lost} of ${spans} spans: ${message}`).join("; ");
    return { reason, exports: refused.map(({ name }) => name), status: refused.find(({ httpStatus }) => httpStatus)?.httpStatus };
  }

  /**
   * Gives a message back, to come again later. Meanwhile this worker asks for no others: what one of them met, all would meet.
   *
   * @param {JsMsg} message
   * @param {string} reason
   * @param {number} [askedMillis] What the backend asks for.
   * @returns {"again"}
   */
  #again(message, reason, askedMillis) {
    const now = Date.now();
    if (this.#restsUntil === 0) this.#log.warn({ reason }, "bodies cannot be exported now; they are given back to the queue, and come again");
    if (this.#restsUntil <= now) this.#restsUntil = now + this.#backoff.next(askedMillis);
    // One that fails while others do not comes ever more rarely.
    const own = Math.min(SCALE.mostMillis, SCALE.firstMillis * 2 ** (message.info.deliveryCount - 1));
    message.nak(Math.round(Math.max(this.#restsUntil - now, own, askedMillis ?? 0)));
    return "again";
  }
}
