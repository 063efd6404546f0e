/** How a store stands: what it has refused and pruned, in the log, in /metrics and in /health. */
import { Refusal } from "../receive/refusal.js";

const UNAVAILABLE = 503;
/** When there may be room again, or exports have taken what is there. */
const RETRY_SECONDS = 10;

export class Standing {
  #metrics;
  #log;
  /** The last refusal for want of room. @type {{ reason: string, at: number } | undefined} */
  #last;

  /** @param {import("../types.js").Metrics} metrics @param {import("pino").Logger} log */
  constructor(metrics, log) {
    this.#metrics = metrics;
    this.#log = log;
  }

  /** @param {{ statusCode: number, message: string }} refused @returns {Refusal} */
  refusal({ statusCode, message }) {
    if (statusCode !== UNAVAILABLE) return new Refusal(statusCode, message);
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
      this.#log.info({ reason, bodies }, "bodies were pruned");
    }
  }
}
