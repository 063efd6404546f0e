/** The pool of workers alone, with Qwen3's tokenizer. */
import { createRequire } from "node:module";
import { join } from "node:path";
import { DEFAULTS } from "../../../collector/src/configuration/defaults.js";
import { createEnrichments } from "../../../collector/src/enrichment/pool.js";
import { fetchTokenizer } from "../../../scripts/fetch-tokenizer.js";

/** @typedef {import("../../../collector/src/types.js").Configuration} Configuration */

const { pino } = createRequire(new URL("../../../collector/package.json", import.meta.url))("pino");
/** A worker that ends when a body asks for it. */
export const TROUBLED = new URL("./troubled-worker.js", import.meta.url);
/** As they are by default, but for machines that are busy with other tests. */
export const LIMITS = { ...DEFAULTS.limits, enrichMillis: 50_000 };

/** @param {Partial<Configuration>} more @returns {Configuration} */
export function poolConfiguration(more) {
  const tokenizers = [{ pattern: "*", file: join(fetchTokenizer("qwen3"), "tokenizer.json") }];
  return { ...DEFAULTS, limits: LIMITS, tokenizers, workers: 1, ...more };
}

/**
 * Starts one; `lines` are those of its log.
 *
 * @param {Partial<Configuration>} [more]
 * @param {URL} [workerFile]
 */
export async function startPool(more = {}, workerFile) {
  const { log, lines } = logLines();
  return { ...(await createEnrichments(poolConfiguration(more), log, workerFile)), lines };
}

/** A log, and its lines. @returns {{ log: import("../../../collector/src/types.js").Context["log"], lines: string[] }} */
export function logLines() {
  /** @type {string[]} */
  const lines = [];
  return { log: pino({ level: "trace" }, { write: (/** @type {string} */ line) => void lines.push(line) }), lines };
}
