/**
 * What the exports' results are together, in the words of OTLP.
 *
 * - Some may succeed later: 503 (429 if all of these said 429), with the longest `Retry-After`. The client sends everything again,
 *   also to exports that have stored it; they know spans by their ids.
 * - No export has stored a span, and none ever will: an error that is not tried again, for clients print errors, and some look at no
 *   partial success. 400 if every backend says that it is because of the spans, else 500.
 * - Some spans are stored somewhere: a partial success, for nothing may be sent again. Rejected is what no export has stored, which
 *   is at most what the luckiest one has lost; if one has stored everything, that is none, and the message is a warning.
 * - All have stored everything: a success; what there is to say is a warning.
 */
import { Refusal } from "./refusal.js";

/** @typedef {import("./exports.js").Exported} Exported */
/** What became of a body: at each export (none: it was not sampled), and what there is to say otherwise. @typedef {{ results: Exported[], warnings: string[] }} Passed */

const BAD_REQUEST = 400;
const TOO_MANY = 429;
const INTERNAL = 500;
const UNAVAILABLE = 503;
/** Of answers about what was sent, not about who asks or how the backend is. */
export const ABOUT_SPANS = [200, 400, 413, 422];
export const ABOUT_WHO_ASKS = [401, 403, 404, 405];

/**
 * @param {Exported[]} results
 * @param {() => number} count How many spans there are; asked for only when some are lost.
 * @param {string[]} warnings What there is to say otherwise.
 * @returns {import("./answers.js").PartialSuccess | undefined}
 * @throws {Refusal} With one of these statuses.
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
  const message = messages.join("; ");
  const rejectedSpans = Math.min(...results.map(({ lost = spans }) => lost));
  if (failed.length > 0 && rejectedSpans >= spans) {
    throw new Refusal(failed.every(({ httpStatus = INTERNAL }) => ABOUT_SPANS.includes(httpStatus)) ? BAD_REQUEST : INTERNAL, message);
  }
  return { rejectedSpans, message };
}

/**
 * Whether what became of several requests together holds for each: not if something may be about the spans of one of them.
 *
 * @param {Passed} passed
 */
export function isOfAll({ results }) {
  if (results.some(({ status }) => status === "retryable")) return true;
  return results.every(({ status, lost, httpStatus = 0 }) => status === "success" || (lost === undefined && ABOUT_WHO_ASKS.includes(httpStatus)));
}

/** @param {Exported[]} retryable */
function again(retryable) {
  const status = retryable.every(({ httpStatus }) => httpStatus === TOO_MANY) ? TOO_MANY : UNAVAILABLE;
  const waits = retryable.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [Math.ceil(retryAfterMs / 1000)]));
  const message = retryable.map(({ name, message }) => `${name}: ${message}`).join("; ");
  return new Refusal(status, message, waits.length > 0 ? { "retry-after": String(Math.max(...waits)) } : {});
}
