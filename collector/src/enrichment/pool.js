/** Enriching in threads, so that requests are passed on while a body is decoded. */
import { Piscina } from "piscina";

/**
 * @param {import("../types.js").Configuration} configuration
 * @param {import("pino").Logger} log
 * @returns {Promise<import("../types.js").Enrichments>}
 */
export async function createEnrichments(configuration, log) {
  const { tokenizers, tokenizerOptions, enrichment, limits, workers } = configuration;
  const pool = new Piscina({
    filename: new URL("./worker.js", import.meta.url).href,
    workerData: { tokenizers, tokenizerOptions, enrichment, limits },
    minThreads: workers,
    maxThreads: workers,
  });
  return {
    async enrich({ body, contentType, url, signal }) {
      try {
        return await pool.run({ body, contentType, url }, { signal });
      } catch (error) {
        log.warn({ err: error }, "a body goes on as it came");
        return { outcome: "undecoded", reason: "error", message: String(error) };
      }
    },
    health: () => ({ ready: true, workers, tokenizers: [] }),
    close: () => pool.close(),
  };
}
