/** Threads with the same tokenizers. One that can no longer be trusted ends with its answer, and another takes its place. */
import { Piscina } from "piscina";
import { withBody } from "./bodies.js";
import { undecoded } from "./outcome.js";

/** @typedef {import("../types.js").Enrichment} Enrichment */
/** @typedef {import("../types.js").EnrichmentRequest} EnrichmentRequest */
/**
 * @typedef {object} Threads
 * @property {(request: EnrichmentRequest, signal: AbortSignal) => Promise<Enrichment>} run Ends the thread if the signal
 *   is aborted, and is rejected.
 * @property {() => number} count How many there are: fewer than asked for if others could not be started in their place.
 * @property {() => Promise<void>} close Waits for what is under way.
 */

const MIB = 1 << 20;
/** Without these a thread cannot even start. */
const LEAST_HEAP_MIB = 64;

/**
 * Starts them, and waits until all are ready.
 *
 * @param {object} how
 * @param {URL} how.file The script of a thread.
 * @param {number} how.workers How many.
 * @param {Omit<import("./bodies.js").How, "tokenizers">} how.bodies What they do with bodies.
 * @param {import("pino").Logger} how.log
 * @param {import("./tokenizers.js").Packed[]} tokenizers
 * @returns {Promise<Threads>}
 */
export async function startThreads({ file, workers, bodies, log }, tokenizers) {
  const piscina = new Piscina({
    filename: file.href,
    workerData: { ...bodies, tokenizers },
    minThreads: workers,
    maxThreads: workers,
    recordTiming: false,
    // What is beside WebAssembly's memory: reports, and what sampling finds.
    resourceLimits: { maxOldGenerationSizeMb: Math.max(LEAST_HEAP_MIB, Math.ceil(bodies.limits.workerBytes / MIB)) },
  });
  // Without a listener it would end the process. A thread that ended in the middle of a body tells `run` instead.
  piscina.on("error", (error) => log.error({ err: error }, "a worker ended while it was idle or starting"));
  /** What threads said before they ended, by the number of the body. @type {Map<number, import("./worker.js").LastWords>} */
  const lastWords = new Map();
  piscina.on("message", (/** @type {import("./worker.js").LastWords} */ said) => lastWords.set(said.id, said));
  let lastId = 0;
  /** @type {Set<Promise<unknown>>} */
  const running = new Set();

  /** @type {Threads["run"]} */
  async function run({ body, contentType, url, sampling }, signal) {
    const id = ++lastId;
    // A copy that is moved: the caller needs the body as it came if this fails.
    const copy = new Uint8Array(body);
    try {
      const answer = await piscina.run({ id, body: copy, contentType, url, sampling }, { signal, transferList: [copy.buffer] });
      return withBody(answer, body);
    } catch (error) {
      const said = lastWords.get(id);
      if (said) {
        log.warn({ reason: said.reason }, "a worker is replaced");
        return withBody(said.answer, body);
      }
      if (signal.aborted) throw signal.reason;
      log.error({ err: error }, "a worker ended in the middle of a body");
      return undecoded("worker_lost", "the worker ended");
    } finally {
      lastWords.delete(id);
    }
  }

  const close = async () => {
    await Promise.allSettled(running);
    await piscina.destroy();
  };
  try {
    // One for each thread, for a thread has one at a time.
    await Promise.all(Array.from({ length: workers }, () => piscina.run(undefined)));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    run(request, signal) {
      const result = run(request, signal);
      running.add(result);
      return result.finally(() => running.delete(result));
    },
    count: () => piscina.threads.length,
    close,
  };
}
