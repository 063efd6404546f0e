/** A thread: enriches one body after the other. */
import { parentPort } from "node:worker_threads";
import { move, transferableSymbol, valueSymbol, workerData } from "piscina";
import { Enricher, Token2TextError, Tokenizer, memoryBytes } from "token2text";
import { undecoded } from "./outcome.js";
import { Sampling } from "./sampling/sampling.js";

/** @typedef {import("../types.js").Enrichment} Enrichment */
/** @typedef {{ id: number, body: Uint8Array, contentType?: string, url: string, sampling?: "decode" | "select" }} Task */
/**
 * The answer to a body after which the thread ends, and why it does.
 *
 * @typedef {{ id: number, answer: Enrichment, reason: string }} LastWords
 */

/** In place of a body that is as it was. */
const NOTHING = new Uint8Array();
const { tokenizers, enrichment, limits, sample, knownTraces } = workerData;
const sampling = new Sampling(sample, knownTraces);
const enricher = await createEnricher();
if (memoryBytes() > limits.workerBytes) {
  const cure = `set limits.workerBytes to more than ${2 * memoryBytes()}`;
  throw new Error(`the tokenizers alone take ${memoryBytes()} bytes, more than a worker may have (${limits.workerBytes}); ${cure}`);
}

async function createEnricher() {
  /** One for all patterns of a file. @type {Map<SharedArrayBuffer, Tokenizer>} */
  const loaded = new Map();
  const byPattern = tokenizers.map((/** @type {import("./tokenizers.js").Packed} */ { pattern, bytes }) => {
    const tokenizer = loaded.get(bytes) ?? Tokenizer.fromBytes(new Uint8Array(bytes));
    loaded.set(bytes, tokenizer);
    return [pattern, tokenizer];
  });
  return Enricher.create(Object.fromEntries(byPattern), { ...enrichment, limits: { bodyBytes: limits.bodyBytes } });
}

/**
 * Without a task it tells that the thread is ready. An instance that failed may be broken, and one whose memory has grown keeps it:
 * the thread then ends, still busy, so that no other body is given to it; its last message has the answer.
 *
 * @param {Task} [task]
 */
export default function work(task) {
  if (!task) return undefined;
  const answer = enrich(task);
  const moved = answer.outcome === "enriched" ? [/** @type {ArrayBuffer} */ (answer.body.buffer)] : [];
  const isLost = answer.outcome === "undecoded" && answer.reason === "worker_lost";
  if (isLost) leave({ id: task.id, answer, reason: "token2text failed in it" }, moved);
  if (memoryBytes() > limits.workerBytes) leave({ id: task.id, answer, reason: `its memory has grown to ${memoryBytes()} bytes` }, moved);
  return move(/** @type {any} */ ({ [transferableSymbol]: moved, [valueSymbol]: answer }));
}

/** @param {LastWords} words @param {ArrayBuffer[]} moved @returns {never} */
function leave(words, moved) {
  parentPort?.postMessage(words, moved);
  return process.exit();
}

/** @param {Task} task @returns {Enrichment} */
function enrich({ body, contentType, url, sampling: how }) {
  try {
    /** @type {import("./sampling/sampling.js").Sampled} */
    const sampled = how && sample < 1 ? sampling.sample(body, contentType, how) : { body, leftOut: 0, isNothing: false };
    if (sampled.isNothing) return { ...undecoded("not_sampled", "no sample of it is in"), leftOut: sampled.leftOut };
    const { body: enriched, report } = enricher.enrichBody(sampled.body, { contentType, url });
    sampled.show?.(Buffer.from(enriched.buffer, enriched.byteOffset, enriched.byteLength));
    const { format } = report;
    const totals = { ...report.totals, spansWithoutIds: report.totals.spansWithoutIds - (sampled.standIns ?? 0) };
    const warnings = report.warnings.map(({ code, message }) => ({ code, message }));
    const isSame = enriched.length === body.length && Buffer.compare(enriched, body) === 0;
    const outcome = isSame ? "unchanged" : "enriched";
    return { outcome, body: isSame ? NOTHING : enriched, format, totals, warnings, leftOut: sampled.leftOut };
  } catch (error) {
    // The message may have parts of the body.
    const code = error instanceof Token2TextError ? error.code : error instanceof Error ? error.name : "thrown";
    return code === "internal" ? undecoded("worker_lost", "token2text failed") : undecoded("error", code);
  }
}
