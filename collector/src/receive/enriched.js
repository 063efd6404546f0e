/** What is to be sent of a request: the same for what is passed on at once and for what is forwarded from a store. */
import { PATH } from "./path.js";
import { countSpans } from "./span-count.js";

/** `body` is absent if no sample of it is in. @typedef {{ body?: Uint8Array, contentType: string, warnings: string[] }} Enriched */
/** @typedef {import("../types.js").Enrichment} Enrichment */

/**
 * Writes texts into a request. One that cannot be enriched is to be sent as it is, with a warning.
 *
 * @param {Pick<import("../types.js").Context, "enrichments" | "metrics">} context
 * @param {string} listener The label of the metrics.
 * @param {import("./exports.js").Body} given
 * @param {object} [how]
 * @param {(result: Enrichment) => boolean} [how.isWanted] Whether the result is to be used. Default: any is.
 * @param {() => number} [how.count] How many spans there are; asked for only when it is not enriched.
 * @returns {Promise<Enriched | undefined>} Nothing, if the result is not to be used.
 * @throws {import("./refusal.js").Refusal} 400: it is no request of OTLP, which is found by counting, before a backend finds it.
 */
export async function enriched({ enrichments, metrics }, listener, given, { isWanted = () => true, count = () => countSpans(given.body, given.contentType) } = {}) {
  const { body, contentType } = given;
  const start = performance.now();
  const result = await enrichments.enrich({ body, contentType, url: PATH, sampling: "select" });
  if (!isWanted(result)) return undefined;
  metrics.enriched({ listener }, result, (performance.now() - start) / 1000);
  if (isLeftOut(result)) return { contentType, warnings: [] };
  if (result.outcome !== "undecoded") return { body: result.body, contentType, warnings: result.warnings.map(({ message }) => message) };
  return { body, contentType, warnings: [`${count()} spans forwarded undecoded: ${result.message}`] };
}

/** Whether nothing is to be said of it, so that it holds for each of several requests. @param {Enrichment} result */
export function saysNothing(result) {
  return isLeftOut(result) || (result.outcome !== "undecoded" && result.warnings.length === 0);
}

/** Whether no sample is in. @param {Enrichment} result */
function isLeftOut(result) {
  return result.outcome === "undecoded" && result.reason === "not_sampled";
}
