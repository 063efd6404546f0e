/**
 * The demo's part with the collector alone: it keeps what it receives in a file, and its address is a page on which rollouts are seen
 * as they come. No backend is there; one that is added later gets all of it.
 */
import { rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { withRetry } from "../pkg/exporters/http.js";
import { MlflowReader } from "../pkg/exporters/mlflow.js";
import { OtlpExporter } from "../pkg/exporters/otlp-node.js";
import { read } from "../pkg/node.js";
import { Command } from "../tests/collector/support/command.js";
import { ROOT, step } from "./lib.js";
import { recordedRollouts, recordedTexts, textsOf } from "./recorded-rollouts.js";

/** @typedef {import("../pkg/span.js").Span} Span */

const CAPTURE = "verl-calls-qwen3";
const STORE = ".cache/demo/rollouts.db";
const PORT = 4318;
/** From the acknowledgement of a call until its text can be read. */
const MOST_MILLIS = 1000;
/** So many times the recording is sent while somebody looks on, a call at a time. */
const ROUNDS = 30;
const PAUSE_MILLIS = 400;
const EXPERIMENT = "collected";
/** In which a backend that was added has got all of it. */
const CATCH_UP_MILLIS = 60_000;

export class DemoCollector {
  /** @type {Command} */
  #command = /** @type {any} */ (undefined);
  #tokenizer;
  #port = PORT;
  #isEnded = false;
  /** What was sent and acknowledged, by trace. @type {Map<string, Span[]>} */
  sent = new Map();
  /** @type {Promise<void>} */
  #flow = Promise.resolve();
  url = "";

  /** @param {string} tokenizer The path of a tokenizer.json. */
  constructor(tokenizer) {
    this.#tokenizer = tokenizer;
  }

  /** Starts with an empty store. */
  async start() {
    for (const end of ["", "-wal", "-shm", ".lock"]) rmSync(join(ROOT, STORE + end), { force: true });
    this.#port = (await isFree(PORT)) ? PORT : 0;
    await this.#run([]);
    return this;
  }

  /** @param {string[]} more Arguments. */
  async #run(more) {
    const args = ["--tokenizer", this.#tokenizer, "--receive", `${this.#port}`, "--store", STORE, ...more];
    step(`token2text-collector ${args.join(" ")}`);
    this.#command = new Command(args);
    this.url = await this.#command.url("receive");
    this.#port = Number(new URL(this.url).port);
  }

  async #stop() {
    this.#command.signal("SIGTERM");
    await this.#command.ended;
  }

  /**
   * Sends the recorded rollouts, each call when it has ended, and reads each back with its text.
   *
   * @returns {Promise<string[]>} What went wrong.
   */
  async show() {
    /** @type {number[]} */
    const millis = [];
    for (const rollout of await recordedRollouts(CAPTURE)) {
      for (const call of rollout) {
        await this.#send(call);
        const start = performance.now();
        const [stored] = (await this.#read(call.traceId)).filter(({ spanId }) => spanId === call.spanId);
        if (textsOf([stored]).size > 0) millis.push(performance.now() - start);
      }
    }
    const texts = await this.#texts();
    const expected = recordedTexts(CAPTURE);
    const missing = expected.filter((text) => !texts.has(text));
    millis.sort((a, b) => a - b);
    const [middle, slowest] = [millis[millis.length >> 1], millis[millis.length - 1]].map(Math.round);
    if (missing.length > 0) return [`of ${expected.length} texts ${missing.length} cannot be read from the collector`];
    console.log(`ok: the collector has the ${expected.length} texts; a text is read ${middle} ms after its acknowledgement, ${slowest} ms at most`);
    return middle > MOST_MILLIS ? [`a text is read ${middle} ms after its acknowledgement`] : [];
  }

  /** Sends the same rollouts again and again as further rollouts of their samples, until `dispose`: a call at a time, so that one sees them come. */
  flow() {
    this.#flow = this.#flowOn().catch((error) => console.log(`The rollouts have ended: ${error.message}`));
  }

  async #flowOn() {
    for (let round = 1; round <= ROUNDS; round++) {
      for (const call of (await recordedRollouts(CAPTURE, () => ({ rollout_n: round }))).flat()) {
        if (this.#isEnded) return;
        await this.#send(call);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLIS));
      }
    }
  }

  /** Until it is acknowledged, as clients do: the collector may be starting again. @param {Span} call */
  async #send(call) {
    const send = withRetry(() => new OtlpExporter({ url: `${this.url}/v1/traces` }).export([call]));
    const result = await send();
    if (result.status !== "success") throw result.error ?? new Error(result.status);
    this.sent.set(call.traceId, [...(this.sent.get(call.traceId) ?? []), call]);
  }

  /** @param {string} traceId @returns {Promise<Span[]>} */
  async #read(traceId) {
    const response = await fetch(`${this.url}/v1/traces/${traceId}`);
    if (!response.ok) throw new Error(`the collector answers ${response.status}: ${await response.text()}`);
    return read(new Uint8Array(await response.arrayBuffer()));
  }

  async #texts() {
    const spans = await Promise.all([...this.sent.keys()].map((traceId) => this.#read(traceId)));
    return textsOf(spans.flat());
  }

  /**
   * Starts again with an export: what the collector has kept goes there, and what comes.
   *
   * @param {string} mlflow The address of an MLflow.
   * @returns {Promise<{ address: string, problems: string[] }>} `address`: of the page where it is.
   */
  async catchUp(mlflow) {
    await this.#stop();
    await this.#run(["--export", `mlflow=${mlflow},experiment=${EXPERIMENT}`]);
    const wanted = new Map([...this.sent].map(([traceId, calls]) => [`tr-${traceId}`, calls.length]));
    const reader = new MlflowReader({ url: mlflow, experiment: EXPERIMENT });
    const expected = recordedTexts(CAPTURE);
    for (const end = Date.now() + CATCH_UP_MILLIS; ; await new Promise((resolve) => setTimeout(resolve, 200))) {
      /** @type {Span[]} */
      const spans = [];
      let place = "";
      try {
        for await (const { trace_id: traceId, trace_location: location } of reader.search()) {
          place = `${mlflow}/#/experiments/${location.mlflow_experiment?.experiment_id}/traces`;
          spans.push(...(await read(await reader.spans(traceId))).map((span) => ({ ...span, traceId })));
        }
      } catch (error) {
        // The experiment is made with the first trace.
        if (Date.now() > end) throw error;
      }
      const texts = textsOf(spans);
      const has = (/** @type {string} */ trace, /** @type {number} */ count) => spans.filter(({ traceId }) => traceId === trace).length >= count;
      if ([...wanted].every(([traceId, count]) => has(traceId, count)) && expected.every((text) => texts.has(text))) {
        console.log(`ok: MLflow has caught up on all ${wanted.size} rollouts that the collector had kept, with their ${expected.length} texts`);
        return { address: place, problems: [] };
      }
      if (Date.now() > end) return { address: place, problems: [`MLflow has not caught up on the collector: ${spans.length} spans, ${texts.size} texts`] };
    }
  }

  /** Whether the page is served, and opens what the store has. @returns {Promise<string[]>} What went wrong. */
  async check() {
    const page = await fetch(`${this.url}/`);
    const html = await page.text();
    const isPage = page.ok && html.includes("<token2text-viewer") && new URL(page.url).searchParams.get("collector") === ".";
    return isPage ? [] : ["the collector's page does not answer"];
  }

  async dispose() {
    this.#isEnded = true;
    await this.#flow;
    await this.#stop();
  }
}

/** @param {number} port @returns {Promise<boolean>} */
function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
