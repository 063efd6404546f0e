/**
 * What the exports' results are together, in the words of OTLP.
 *
 * - Some may succeed later: 503 (429 if all of these said 429), with the longest `Retry-After`. The client sends everything again,
 *   also to exports that have stored it; they know spans by their ids.
 * - Some have failed for good: a partial success, for nothing may be sent again. Rejected is what no export has stored, which is
 *   at most what the luckiest one has lost; if one has stored everything, that is none, and the message is a warning.
 * - All have stored everything: a success; what there is to say is a warning.
 */
import { Refusal } from "./refusal.js";

/** @typedef {import("./exports.js").Exported} Exported */

const UNAVAILABLE = 503;
const TOO_MANY = 429;

/**
 * @param {Exported[]} results
 * @param {() => number} count How many spans there are; asked for only when some are lost.
 * @param {string[]} warnings What there is to say otherwise.
 * @returns {import("./answers.js").PartialSuccess | undefined}
 * @throws {Refusal} 503 or 429.
 */
export function verdict(results, count, warnings) {
  const retryable = results.filter(({ status }) => status === "retryable");
  if (retryable.length > 0) throw again(retryable);
  const failed = results.filter(({ status }) => status === "failure");
  const warned = results.filter(({ status, message }) => status === "success" && message);
  const spans = failed.length > 0 ? count() : 0;
  const messages = [
    ...failed.map(({ name, message, lost = spans }) => `${name} has not stored ${lost} of ${spans} spans: ${message}`),
    ...warned.map(({ name, message }) => `${name}: ${message}`),
    ...warnings,
  ];
  if (messages.length === 0) return undefined;
  return { rejectedSpans: Math.min(...results.map(({ lost = spans }) => lost)), message: messages.join("; ") };
}

/** @param {Exported[]} retryable */
function again(retryable) {
  const status = retryable.every(({ httpStatus }) => httpStatus === TOO_MANY) ? TOO_MANY : UNAVAILABLE;
  const waits = retryable.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [Math.ceil(retryAfterMs / 1000)]));
  const message = retryable.map(({ name, message }) => `${name}: ${message}`).join("; ");
  return new Refusal(status, message, waits.length > 0 ? { "retry-after": String(Math.max(...waits)) } : {});
}
