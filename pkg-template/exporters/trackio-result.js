/** What became of an export, in the terms of `http.js`. */
import { Token2TextError, messageOf } from "../errors.js";

/** @typedef {import("./trackio-entries.js").Rejected} Rejected */
/** @typedef {import("./json-repair.js").Replaced} Replaced */
/**
 * `retryable`: nothing is lost, send the same again; what is stored already stays as it is. `failure`: what `rejected` lists was
 * not stored, the rest was; without that list, nothing was. `stoppedBy` is the status of an answer that was about no entry, but about
 * who asks: everything that was not sent yet is in `rejected` too.
 *
 * @typedef {(
 *   | { status: "success" }
 *   | { status: "retryable", retryAfterMs?: number, error: Token2TextError }
 *   | { status: "failure", error: Token2TextError, stoppedBy?: number }
 * ) & { rejected?: Rejected[], replaced?: Replaced }} TrackioResult
 */
/** @typedef {Exclude<TrackioResult, { status: "success" }>} Problem */

/**
 * @param {Rejected[]} rejected
 * @param {Replaced} replaced
 * @param {{ lost: number, all: number }} entries How many there were, and how many of them are or would be in `rejected`.
 * @param {Problem} [problem] What stopped the export.
 * @returns {TrackioResult}
 */
export function outcome(rejected, replaced, { lost, all }, problem) {
  const isRepaired = replaced.characters > 0 || replaced.integers > 0;
  const more = { ...(rejected.length > 0 && { rejected }), ...(isRepaired && { replaced }) };
  if (problem?.status === "retryable") return { ...problem, ...more };
  if (rejected.length === 0) return { status: "success", ...more };
  const [{ index, error }] = rejected;
  const what = `${lost} of ${all} entries not stored; entry ${index}: ${error.message}`;
  const stopped = problem?.stoppedBy === undefined ? {} : { stoppedBy: problem.stoppedBy };
  return { status: "failure", error: new Token2TextError(error.code, what, { cause: error }), ...stopped, ...more };
}

/** @param {unknown} error @returns {TrackioResult} */
export function failed(error) {
  const known = error instanceof Token2TextError ? error : new Token2TextError("internal", messageOf(error), { cause: error });
  return { status: "failure", error: known };
}
