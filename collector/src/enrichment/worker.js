/** A thread that enriches one body after the other. */
import { workerData } from "piscina";
import { Enricher, Tokenizer } from "token2text";

const { tokenizers, tokenizerOptions, enrichment, limits } = workerData;
/** @type {Record<string, Tokenizer>} */
const loaded = {};
for (const { pattern, file } of tokenizers) loaded[pattern] = await Tokenizer.load(file, tokenizerOptions);
const enricher = await Enricher.create(loaded, { ...enrichment, limits: { bodyBytes: limits.bodyBytes } });

/** @param {{ body: Uint8Array, contentType?: string, url: string }} task @returns {import("../types.js").Enrichment} */
export default function enrich({ body, contentType, url }) {
  const result = enricher.enrichBody(body, { contentType, url });
  const { format, totals, warnings } = result.report;
  const outcome = totals.decoded + totals.replaced > 0 ? "enriched" : "unchanged";
  return { outcome, body: result.body, format, totals, warnings };
}
