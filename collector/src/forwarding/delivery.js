/** Sends requests to one export until it has taken them, or has refused them for good. */
import { setTimeout as sleep } from "node:timers/promises";
import { sendTo } from "../receive/exports.js";
import { Backoff } from "./backoff.js";
import { judge } from "./judgement.js";

/** @typedef {import("../receive/exports.js").Exported} Exported */
/** What became of a request: delivered, perhaps with a warning, or refused. @typedef {{ attempts: number, warning?: string, refusal?: Exported }} Delivered */
/** Since when an export fails, and what it says; nothing while it works. @typedef {{ failingSince?: string, reason?: string }} Condition */

/** With the waits between them some 15 s: a server that has to restart is there again, and one bad body does not hold up the others for long. */
const MOST_UNCLEAR = 5;

export class Delivery {
  #to;
  #context;
  #signal;
  #backoff;
  /** @type {Condition} */
  #condition = {};
  /** The answer that was told last, while it fails. @type {number | undefined} */
  #toldStatus;

  /**
   * @param {import("../receive/exports.js").Export} to
   * @param {Pick<import("../types.js").Context, "metrics" | "log">} context
   * @param {{ signal: AbortSignal, scale?: import("./backoff.js").Scale }} how The signal ends the waiting, not what is being sent.
   */
  constructor(to, context, { signal, scale }) {
    this.#to = to;
    this.#context = context;
    this.#signal = signal;
    this.#backoff = new Backoff(scale);
  }

  get condition() {
    return this.#condition;
  }

  /**
   * @param {import("../receive/exports.js").Body} request
   * @returns {Promise<Delivered | undefined>} Nothing: the signal came first.
   */
  async send(request) {
    const { metrics } = this.#context;
    let unclear = 0;
    for (let attempts = 1; !this.#signal.aborted; attempts++) {
      const exported = await sendTo(this.#to, request, metrics);
      const judgement = judge(exported);
      if (judgement === "delivered" || judgement === "refused") this.#works();
      if (judgement === "delivered") return { attempts, warning: exported.message };
      if (judgement === "unclear") unclear++;
      if (judgement === "refused" || unclear === MOST_UNCLEAR) return { attempts, refusal: exported };
      this.#fails(exported, judgement);
      metrics.retried({ export: this.#to.place });
      await sleep(this.#backoff.next(exported.retryAfterMs), undefined, { signal: this.#signal }).catch(() => {});
    }
    return undefined;
  }

  /** @param {Exported} exported @param {import("./judgement.js").Judgement} judgement */
  #fails({ message: reason, httpStatus: status = 0 }, judgement) {
    const { failingSince = new Date().toISOString() } = this.#condition;
    this.#condition = { failingSince, reason };
    if (this.#toldStatus === status) return;
    this.#toldStatus = status;
    // Where it is not clear what it is about, a payload may be quoted in it, which no log has.
    const told = judgement === "again" ? { reason } : {};
    this.#context.log.warn({ export: this.#to.place, status, ...told }, "an export fails; it is tried again until it does not");
  }

  #works() {
    this.#backoff.reset();
    const { failingSince } = this.#condition;
    if (failingSince === undefined) return;
    this.#condition = {};
    this.#toldStatus = undefined;
    this.#context.log.info({ export: this.#to.place, failingSince }, "the export works again");
  }
}
