/**
 * What is to be done when an export has ended. A store can wait, so what is not about the spans is tried again for as long as it takes;
 * and nothing that a backend will never take may hold up what comes after it.
 *
 * - `delivered`: it is stored there.
 * - `again`: the backend is away, busy, ill or configured wrongly. It is tried again for ever.
 * - `unclear`: it has failed and does not say over what. It is tried again a few times.
 * - `refused`: the backend does not take these spans, or not all of them.
 */
import { ABOUT_SPANS, ABOUT_WHO_ASKS } from "../receive/verdict.js";

/** @typedef {"delivered" | "again" | "unclear" | "refused"} Judgement */

/** Codes of token2text for spans that no request can be made of. */
const ABOUT_BODY = ["invalid_body", "unknown_format", "limit_exceeded"];
/** Somewhere else answers, or someone in between: a proxy that wants a login, or waited too long (RFC 9110, 15). */
const ABOUT_THE_WAY = [301, 302, 303, 307, 308, 407, 408];
const INTERNAL = 500;

/**
 * @param {import("../receive/exports.js").Exported} exported
 * @returns {Judgement}
 */
export function judge({ status, httpStatus, code = "" }) {
  if (status === "success") return "delivered";
  if (status === "retryable") return "again";
  if (httpStatus === undefined) {
    // An answer without a status that counts is none of the backend that was meant.
    if (code === "refused") return "again";
    return ABOUT_BODY.includes(code) ? "refused" : "unclear";
  }
  if (ABOUT_SPANS.includes(httpStatus)) return "refused";
  return httpStatus > INTERNAL || ABOUT_WHO_ASKS.includes(httpStatus) || ABOUT_THE_WAY.includes(httpStatus) ? "again" : "unclear";
}
