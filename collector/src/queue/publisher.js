/** Puts received bodies into the stream; done when the server says that it has them. */
import { createHash } from "node:crypto";
import { headers } from "@nats-io/transport-node";
import { Refusal } from "../receive/refusal.js";
import { countSpans } from "../receive/span-count.js";
import { fitted } from "./fitting.js";
import { Away, inWords, isMistake } from "./problems.js";
import { namesOf } from "./streams.js";

/** @typedef {import("./fitting.js").Fitted} Fitted */

/** Kept free in a message: for headers, and for the reason if it becomes a dead letter. */
const HEADER_BYTES = 4096;
/** Seconds after which the queue may take it. */
const RETRY_AFTER = { "retry-after": "5" };

export class Publisher {
  #connection;
  #subject;
  #metrics;
  #log;
  /** Why the last body was not taken. @type {string | undefined} */
  problem;

  /** @param {import("../types.js").Context} context @param {import("../types.js").QueueTarget} target @param {import("./connection.js").Connection<unknown>} connection */
  constructor({ metrics, log }, { options }, connection) {
    this.#connection = connection;
    this.#subject = namesOf(options).subject;
    this.#metrics = metrics;
    this.#log = log;
  }

  /**
   * @param {Uint8Array} body
   * @param {string} contentType
   * @throws {Refusal} 400: it is no request of OTLP; 503: the queue is away or full; 413: it is larger than the server takes.
   */
  async add(body, contentType) {
    // Nobody tells the sender later what was wrong with it.
    if (countSpans(body, contentType) === 0) return;
    try {
      const mostBytes = (this.#connection.session.connection.info?.max_payload ?? Infinity) - HEADER_BYTES;
      const parts = await fitted({ body, contentType }, mostBytes);
      const answers = await Promise.all(parts.map((part) => this.#publish(part)));
      for (const { duplicate } of answers) this.#metrics.queued(duplicate ? "duplicate" : "stored");
      this.problem = undefined;
    } catch (error) {
      this.#metrics.queued("refused");
      if (error instanceof Refusal) throw error;
      const words = inWords(error);
      if (words !== this.problem && !(error instanceof Away)) this.#log.warn({ reason: words }, "the queue takes nothing; senders are told to try again");
      this.problem = words;
      // Somebody may have taken the stream away.
      if (isMistake(error)) await this.#connection.renew();
      throw new Refusal(503, error instanceof Away ? words : `the queue does not take it: ${words}`, RETRY_AFTER);
    }
  }

  /** @param {Fitted} part */
  #publish({ body, contentType, data, encoding }) {
    const fields = headers();
    fields.set("Content-Type", contentType);
    if (encoding) fields.set("Content-Encoding", encoding);
    // A request that is sent again is stored once, for as long as the stream remembers (its duplicate_window).
    const msgID = createHash("sha256").update(contentType).update(body).digest("hex");
    return this.#connection.ask(({ client }) => client.publish(this.#subject, data, { headers: fields, msgID }));
  }
}
