/** A held body, enriched in the encoding that it came in. */
import { undecoded } from "../enrichment/outcome.js";
import { NotOpened, open } from "./encodings.js";
import { valueOf } from "./headers.js";
import { Allowance } from "./held.js";

/** @typedef {import("../types.js").Enrichment} Enrichment */

/**
 * @param {import("../types.js").Context} context
 * @param {object} message
 * @param {Buffer[]} message.chunks Its whole body.
 * @param {import("./headers.js").Headers} message.headers
 * @param {string} message.url The path that it was sent to or came from.
 * @param {AbortSignal} message.signal
 * @param {import("../types.js").EnrichmentRequest["sampling"]} [message.sampling]
 * @returns {Promise<{ result: Enrichment, body?: Uint8Array }>} `body`: the other one, if there is one.
 */
export async function rewrite(context, { chunks, headers, url, signal, sampling }) {
  const allowance = new Allowance(context);
  try {
    if ((valueOf(headers, "transfer-encoding") ?? "chunked").toLowerCase() !== "chunked") {
      throw new NotOpened("unsupported_encoding", "the transfer encoding is not chunked");
    }
    const { body, close } = await open(valueOf(headers, "content-encoding"), chunks, allowance);
    const result = await context.enrichments.enrich({ body, contentType: valueOf(headers, "content-type"), url, signal, sampling });
    return result.outcome === "enriched" ? { result, body: await close(result.body) } : { result };
  } catch (error) {
    if (!(error instanceof NotOpened)) throw error;
    return { result: undecoded(error.reason, error.message) };
  } finally {
    allowance.release();
  }
}
