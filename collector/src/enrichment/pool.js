/**
 * Enriching in threads, so that requests are passed on while a body is decoded. Bodies wait here, bounded in bytes and in time; a
 * thread is given one at a time. Small bodies do not wait.
 */
import { Nearby } from "./nearby.js";
import { undecoded } from "./outcome.js";
import { emptyTable } from "./sampling/known-traces.js";
import { startThreads } from "./threads.js";
import { openTokenizers } from "./tokenizers.js";
import { Turns } from "./turns.js";

/** @typedef {import("../types.js").Enrichment} Enrichment */
/** @typedef {import("../types.js").EnrichmentRequest} EnrichmentRequest */

/** Of a collector that decodes nothing, for what it receives goes into a queue. @type {import("../types.js").Enrichments} */
const NONE = {
  enrich: async () => undecoded("error", "there is no tokenizer"),
  health: () => ({ ready: true, workers: 0, tokenizers: [] }),
  close: async () => {},
};

/**
 * Loads the tokenizers and starts the threads; without a tokenizer there are none.
 *
 * @param {import("../types.js").Configuration} configuration
 * @param {import("pino").Logger} log
 * @param {URL} [workerFile] The script of a thread.
 * @returns {Promise<import("../types.js").Enrichments>}
 * @throws {Error} A tokenizer that cannot be loaded; the message names the file and the cure.
 */
export async function createEnrichments(configuration, log, workerFile = new URL("./worker.js", import.meta.url)) {
  const { limits, workers, enrichment, sample } = configuration;
  if (configuration.tokenizers.length === 0) return NONE;
  const tokenizers = await openTokenizers(configuration, log);
  const bodies = { limits, enrichment, sample, knownTraces: emptyTable() };
  const how = { file: workerFile, workers, bodies, log };
  let threads = await startThreads(how, tokenizers.packed);
  const nearby = new Nearby(bodies, log);
  await nearby.load(tokenizers.packed);
  /** Settled once all threads with older tokenizers have ended. */
  let oldClosed = Promise.resolve();
  tokenizers.watch(async (packed) => {
    const old = threads;
    threads = await startThreads(how, packed);
    await nearby.load(packed);
    oldClosed = Promise.all([oldClosed, old.close()]).then(() => {});
  });
  const turns = new Turns(workers);
  /** @type {Set<Promise<Enrichment>>} */
  const underWay = new Set();
  let heldBytes = 0;
  let isClosed = false;

  /** @param {EnrichmentRequest} request @returns {Promise<Enrichment>} */
  async function enrichInTime(request) {
    const answer = request.signal?.aborted ? undefined : nearby.enrich(request);
    if (answer) return answer;
    const stop = new AbortController();
    const tooLate = () => stop.abort(undecoded("timeout", `not enriched within ${limits.enrichMillis} ms`));
    const gone = () => stop.abort(undecoded("aborted", "nobody waits for it any more"));
    const timer = setTimeout(tooLate, limits.enrichMillis);
    request.signal?.addEventListener("abort", gone);
    if (request.signal?.aborted) gone();
    try {
      await turns.take(stop.signal);
      try {
        return await threads.run(request, stop.signal);
      } finally {
        turns.end();
      }
    } catch (error) {
      if (error !== stop.signal.reason) log.error({ err: error }, "a body could not be given to a thread");
      return stop.signal.aborted ? stop.signal.reason : undecoded("error", "the body could not be given to a thread");
    } finally {
      clearTimeout(timer);
      request.signal?.removeEventListener("abort", gone);
    }
  }

  return {
    async enrich(request) {
      const { byteLength } = request.body;
      if (isClosed) return undecoded("error", "the collector is stopping");
      if (heldBytes + byteLength > limits.heldBytes) return undecoded("overloaded", `more than ${limits.heldBytes} bytes wait`);
      heldBytes += byteLength;
      const result = enrichInTime(request);
      underWay.add(result);
      try {
        return await result;
      } finally {
        underWay.delete(result);
        heldBytes -= byteLength;
      }
    },
    health: () => ({ ready: !isClosed && threads.count() > 0, workers, tokenizers: tokenizers.health() }),
    async close() {
      isClosed = true;
      await tokenizers.close();
      await Promise.all(underWay);
      nearby.close();
      await Promise.all([oldClosed, threads.close()]);
    },
  };
}
