/** What `log` keeps until it is sent: the part of Trackio's own client. */
import { Token2TextError, describe, messageOf } from "../errors.js";
import { metricKey } from "./trackio-names.js";
import { outcome } from "./trackio-result.js";

/** @typedef {import("./trackio.js").RunOptions} RunOptions */
/** @typedef {import("./trackio-result.js").TrackioResult} TrackioResult */
/** @typedef {import("./json-repair.js").Replaced} Replaced */
/** @typedef {import("./trackio-entries.js").Rejected} Rejected */

/** Trackio's client waits as long. */
const SEND_AFTER_MILLIS = 500;
const SEND_AGAIN_AFTER_MILLIS = 5000;
/** What comes when so much waits for a server is refused, so that memory stays bounded. */
const MAX_KEPT_CHARS = 64 << 20;
/** Of more lost entries nothing but their number is told. */
const MAX_TOLD = 1000;

export class TrackioLog {
  #run;
  #send;
  #config;
  /** @type {{ index: number, text: string }[]} */
  #kept = [];
  #keptChars = 0;
  #count = 0;
  /** The first since the last `finish`. @type {Rejected[]} */
  #lost = [];
  #lostCount = 0;
  /** Since the last `finish`. @type {Replaced} */
  #replaced = { characters: 0, integers: 0 };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** One request at a time, so that entries stay in order. @type {Promise<TrackioResult>} */
  #sending = Promise.resolve({ status: "success" });

  /** @param {RunOptions} run @param {(texts: string[]) => Promise<TrackioResult>} send */
  constructor({ config, ...run }, send) {
    this.#run = run;
    this.#send = send;
    this.#config = config;
    this.runId = run.runId ?? randomId();
  }

  /** @param {Record<string, unknown>} metrics @param {number | null} [step] */
  add(metrics, step) {
    const index = this.#count++;
    try {
      const text = this.entry(metrics, step, randomId());
      if (this.#keptChars + text.length > MAX_KEPT_CHARS) throw new Token2TextError("limit_exceeded", "too much waits for the server");
      this.#kept.push({ index, text });
      this.#keptChars += text.length;
      this.#sendAfter(SEND_AFTER_MILLIS);
    } catch (error) {
      const known = error instanceof Token2TextError ? error : new Token2TextError("invalid_body", messageOf(error), { cause: error });
      this.#lose({ index, error: known });
    }
  }

  /**
   * An entry of `bulk_log`. The first one has the configuration of the run.
   *
   * @param {Record<string, unknown>} metrics
   * @param {number | null | undefined} step
   * @param {string} logId
   * @returns {string}
   * @throws {Token2TextError | TypeError} What is no entry.
   */
  entry(metrics, step, logId) {
    const { project, run } = this.#run;
    if (project === undefined || run === undefined) {
      throw new Token2TextError("invalid_options", "the exporter needs the options `project` and `run` for this");
    }
    if (step !== undefined && step !== null && !Number.isSafeInteger(step)) {
      throw new Token2TextError("invalid_options", `\`step\` must be an integer, not ${describe(step)}`);
    }
    const named = Object.entries(metrics).map(([key, value]) => [metricKey(key), isTrace(value) ? [value] : value]);
    const config = this.#config && { ...this.#config, _Username: null, _Created: new Date().toISOString(), _Group: null };
    const rest = { metrics: Object.fromEntries(named), step: step ?? null, config: config ?? null, log_id: logId };
    const text = JSON.stringify({ project, run, run_id: this.runId, ...rest }, storable);
    this.#config = undefined;
    return text;
  }

  /** @returns {Promise<TrackioResult>} */
  async finish() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const result = await this.#flush();
    if (result.status === "retryable") return result;
    const told = outcome(this.#lost, this.#replaced, { lost: this.#lostCount, all: this.#count });
    [this.#lost, this.#lostCount, this.#replaced] = [[], 0, { characters: 0, integers: 0 }];
    return told;
  }

  /** @param {number} millis */
  #sendAfter(millis) {
    this.#timer ??= setTimeout(async () => {
      this.#timer = undefined;
      const result = await this.#flush();
      if (result.status === "retryable") this.#sendAfter(result.retryAfterMs ?? SEND_AGAIN_AFTER_MILLIS);
    }, millis);
  }

  #flush() {
    this.#sending = this.#sending.then(() => this.#sendKept());
    return this.#sending;
  }

  /** @returns {Promise<TrackioResult>} */
  async #sendKept() {
    const sent = this.#kept;
    if (sent.length === 0) return { status: "success" };
    const result = await this.#send(sent.map(({ text }) => text));
    if (result.status === "retryable") return result;
    // More may have come meanwhile.
    this.#kept = this.#kept.slice(sent.length);
    this.#keptChars = this.#kept.reduce((sum, { text }) => sum + text.length, 0);
    this.#replaced.characters += result.replaced?.characters ?? 0;
    this.#replaced.integers += result.replaced?.integers ?? 0;
    for (const rejected of result.rejected ?? []) this.#lose({ ...rejected, index: sent[rejected.index].index });
    return result;
  }

  /** @param {Rejected} rejected */
  #lose(rejected) {
    this.#lostCount++;
    if (this.#lost.length < MAX_TOLD) this.#lost.push(rejected);
  }
}

/** @param {unknown} value */
function isTrace(value) {
  return typeof value === "object" && value !== null && "_type" in value && value._type === "trackio.trace";
}

/** Numbers that JSON has not, as Trackio's client writes them. @param {string} _key @param {unknown} value */
function storable(_key, value) {
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  return value;
}

/** An id as Trackio's client gives them; `crypto.randomUUID` is missing on pages of plain http. */
function randomId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
