/**
 * Forwards what is stored to one export, in order and at its own pace: while a request is sent, the next one is enriched. What has
 * been settled is written down only after it was, so that a collector that ends in between sends it again: backends know spans by
 * their ids. What the export refuses for good is set aside as a dead letter, and the next is sent.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { enriched, saysNothing } from "../receive/enriched.js";
import { Backoff } from "./backoff.js";
import { Delivery } from "./delivery.js";
import { Runs, requestOf } from "./runs.js";

/** @typedef {import("../types.js").StoredBody} StoredBody */
/** @typedef {import("../types.js").DeadLetter} DeadLetter */
/** Bodies, and the request that is made of them; without one, each has to go alone. @typedef {{ run: StoredBody[], request?: import("../receive/enriched.js").Enriched }} Ready */

const LISTENER = "forward";
/** How often is looked whether dead letters are to be tried again. */
const LOOK_MILLIS = 1000;

export class Forwarder {
  #to;
  #context;
  #store;
  #scale;
  #stop = new AbortController();
  #delivery;
  /** @type {Promise<void>} */
  #ended;
  #wake = () => {};
  #lookedAt = -Infinity;
  /** The last that was said of what was delivered. @type {string | undefined} */
  #warning;

  /**
   * @param {import("../receive/exports.js").Export} to
   * @param {import("../types.js").Context} context
   * @param {import("../types.js").Store} store
   * @param {import("./backoff.js").Scale} [scale]
   */
  constructor(to, context, store, scale) {
    this.#to = to;
    this.#context = context;
    this.#store = store;
    this.#scale = scale;
    this.#delivery = new Delivery(to, context, { signal: this.#stop.signal, scale });
    this.#ended = this.#forward();
  }

  /** What the export is called, and how it is. */
  get health() {
    return { export: this.#to.place, ...this.#delivery.condition, ...(this.#warning && { warning: this.#warning }) };
  }

  /** Lets what is being sent end; the rest stays in the store. */
  async close() {
    this.#stop.abort();
    this.#wake();
    await this.#ended;
  }

  get #isStopped() {
    return this.#stop.signal.aborted;
  }

  async #forward() {
    let isNew = true;
    const stopListening = this.#store.onAdded(() => {
      isNew = true;
      this.#wake();
    });
    const { limits } = this.#context.configuration;
    const { place, isJoined } = this.#to;
    const position = (await this.#ask(() => this.#store.position(place))) ?? 0;
    const runs = new Runs((after, bytes) => this.#store.after(after, bytes), { position, isJoined, bodyBytes: limits.bodyBytes });
    const prepareNext = async () => {
      isNew = false;
      const run = await this.#ask(() => runs.next());
      return run && run.length > 0 ? this.#prepare(run) : undefined;
    };
    let next = prepareNext();
    while (!this.#isStopped) {
      await this.#tryDeadLetters();
      const ready = await next;
      if (!ready && !isNew) await this.#added();
      next = prepareNext();
      if (ready) await this.#deliver(ready);
    }
    await next;
    stopListening();
  }

  /** Waits until something was added, or it is time to look for dead letters. */
  #added() {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, LOOK_MILLIS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(undefined);
      };
      if (this.#isStopped) this.#wake();
    });
  }

  /** @param {StoredBody[]} run @returns {Promise<Ready>} */
  async #prepare(run) {
    const isOfSeveral = run.length > 1;
    const backoff = new Backoff(this.#scale);
    /** @param {import("../types.js").Enrichment} result */
    const isWanted = (result) => !isForLater(result) && (!isOfSeveral || saysNothing(result));
    const count = () => run.reduce((sum, { spans }) => sum + spans, 0);
    for (;;) {
      const request = await enriched(this.#context, LISTENER, requestOf(run), { isWanted, count });
      if (request || isOfSeveral || this.#isStopped) return { run, request };
      await this.#sleep(backoff);
    }
  }

  /** Until all is settled, or it has to stop. @param {Ready} ready */
  async #deliver(ready) {
    const { run } = ready;
    const dead = await this.#try(ready);
    if (dead === "stopped") return;
    if (dead === "alone") {
      for (const stored of run) {
        if (!this.#isStopped) await this.#deliver(await this.#prepare([stored]));
      }
      return;
    }
    const { id } = run[run.length - 1];
    await this.#ask(() => this.#store.settle(this.#to.place, id, dead));
  }

  /**
   * Sends it.
   *
   * @param {Ready} ready
   * @returns {Promise<DeadLetter[] | "alone" | "stopped">} `alone`: each of the bodies has to be sent for itself.
   */
  async #try({ run, request }) {
    if (!request) return run.length > 1 ? "alone" : "stopped";
    const { body, contentType, warnings } = request;
    if (!body) return [];
    const delivered = await this.#delivery.send({ body, contentType });
    if (!delivered) return "stopped";
    const { attempts, refusal, warning } = delivered;
    this.#warning = warning ?? warnings[0] ?? this.#warning;
    if (!refusal) return [];
    if (run.length > 1) return "alone";
    const [{ id, spans }] = run;
    const { httpStatus: status, message: reason = "" } = refusal;
    this.#context.log.error({ export: this.#to.place, body: id, spans, status }, "the export refuses a body; it is a dead letter now");
    return [{ export: this.#to.place, body: id, attempts, status, reason }];
  }

  /** Those that somebody wants to be tried again. */
  async #tryDeadLetters() {
    if (performance.now() - this.#lookedAt < LOOK_MILLIS) return;
    this.#lookedAt = performance.now();
    while (!this.#isStopped) {
      const [letter] = (await this.#ask(() => this.#store.due(this.#to.place, 1))) ?? [];
      if (!letter) return;
      const tried = await this.#try(await this.#prepare([letter.stored]));
      if (typeof tried === "string") return;
      const dead = tried.map((again) => ({ ...again, attempts: letter.attempts + again.attempts }));
      await this.#ask(() => this.#store.resolve(letter.id, dead[0]));
    }
  }

  /**
   * Asks the store until it answers: a disk that is full for a while must not end this.
   *
   * @template Answer
   * @param {() => Promise<Answer>} question
   * @returns {Promise<Answer | undefined>} Nothing: it had to stop.
   */
  async #ask(question) {
    const backoff = new Backoff(this.#scale);
    for (;;) {
      try {
        return await question();
      } catch (error) {
        this.#context.log.error({ err: error, export: this.#to.place }, "the store does not answer; it is asked again");
        if (this.#isStopped) return undefined;
        await this.#sleep(backoff);
      }
    }
  }

  /** @param {Backoff} backoff */
  async #sleep(backoff) {
    await sleep(backoff.next(), undefined, { signal: this.#stop.signal }).catch(() => {});
  }
}

/** Whether there was no room to enrich it now. @param {import("../types.js").Enrichment} result */
function isForLater(result) {
  return result.outcome === "undecoded" && result.reason === "overloaded";
}
