import { Token2TextError, describe } from "./errors.js";

/**
 * The options as an object; an unknown name is an error, so that a typing mistake never passes for a default.
 *
 * @template {object} T
 * @param {T | undefined} options
 * @param {readonly string[]} known
 * @param {string} call How the caller writes the call, for the message.
 * @returns {T}
 */
export function checkOptions(options, known, call) {
  if (options === undefined) return /** @type {T} */ ({});
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new Token2TextError("invalid_options", `the options of ${call} must be an object, not ${describe(options)}`);
  }
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue;
    const list = known.map((option) => `\`${option}\``).join(", ");
    throw new Token2TextError("invalid_options", `${call} has no option \`${name}\`; it has ${list}`);
  }
  return options;
}
