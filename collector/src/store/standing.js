/** How a store stands: what it has refused and pruned, in the log, in /metrics and in /health. */
import { Refusal } from "../receive/refusal.js";

const UNAVAILABLE = 503;
/** When there may be room again, or exports have taken what is there. */
const RETRY_SECONDS = 10;
/** A store at its bound prunes with every transaction. */
const TELL_MILLIS = 10_000;

export class Standing {
  #metrics;
  #log;
  /** How many bodies were pruned, by why, that the log has not told yet. @type {Map<string, number>} */
  #unsaid = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** The last refusal for want of room. @type {{ reason: string, at: number } | undefined} */
  #last;

  /** @param {import("../types.js").Metrics} metrics @param {import("pino").Logger} log */
  constructor(metrics, log) {
    this.#metrics = metrics;
    this.#log = log;
  }

  /** What the sender of a body is told that was not stored. @param {unknown} error */
  told(error) {
    if (!(error instanceof Refusal) || error.statusCode !== UNAVAILABLE) return error;
    const { message } = error;
    this.#metrics.notStored();
    if (!this.#last) this.#log.error({ reason: message }, "what is received is not stored");
    this.#last = { reason: message, at: performance.now() };
    return new Refusal(UNAVAILABLE, `${message}; send it again later`, { "retry-after": String(RETRY_SECONDS) });
  }

  /** A body was stored. */
  accepted() {
    if (this.#last) this.#log.info("what is received is stored again");
    this.#last = undefined;
  }

  /** Why the store refuses, while those that it has refused wait. */
  get refusing() {
    return this.#last && performance.now() - this.#last.at < RETRY_SECONDS * 1000 ? this.#last.reason : undefined;
  }

  /** @param {import("./bounds.js").Pruned} pruned */
  pruned(pruned) {
    for (const [reason, bodies] of Object.entries(pruned)) {
      if (bodies === 0) continue;
      this.#metrics.pruned(reason, bodies);
      this.#unsaid.set(reason, (this.#unsaid.get(reason) ?? 0) + bodies);
      this.#timer ??= setTimeout(() => this.tell(), TELL_MILLIS).unref();
    }
  }

  /** Says what was pruned since it was said last. */
  tell() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [reason, bodies] of this.#unsaid) this.#log.info({ reason, bodies }, "bodies were pruned");
    this.#unsaid.clear();
  }
}
