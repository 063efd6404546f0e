/** What is said of a body that goes on as it came. */

/**
 * @param {import("../types.js").Undecoded} reason
 * @param {string} message For the log: nothing of the body.
 * @returns {Extract<import("../types.js").Enrichment, { outcome: "undecoded" }>}
 */
export function undecoded(reason, message) {
  return { outcome: "undecoded", reason, message };
}
