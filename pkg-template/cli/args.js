import { parseArgs } from "node:util";

/** Wrong usage or unreadable input: exit status 2. */
export class UsageError extends Error {}

/** @typedef {NonNullable<import("node:util").ParseArgsConfig["options"]>} OptionTable */

/** @satisfies {OptionTable} */
export const COMMON = {
  layout: { type: "string", multiple: true },
  report: { type: "string" },
  strict: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
};

/** @satisfies {OptionTable} */
const FILES = {
  format: { type: "string" },
  output: { type: "string", short: "o" },
};

/** What every command has that enriches. @satisfies {OptionTable} */
export const ENRICHING = {
  ...COMMON,
  tokenizer: { type: "string", short: "t", multiple: true },
  config: { type: "string" },
  compat: { type: "string" },
  existing: { type: "string" },
  "skip-special-tokens": { type: "boolean" },
  "drop-ids": { type: "boolean" },
  "max-text-chars": { type: "string" },
};

/** Of commands that write files. @satisfies {OptionTable} */
const MESSAGES = { messages: { type: "boolean" } };

/** Of a command that writes to a backend. @satisfies {OptionTable} */
export const NO_MESSAGES = { "no-messages": { type: "boolean" } };

/** @type {Record<string, string[]>} */
const CHOICES = {
  compat: ["tokenizers", "transformers4", "transformers5"],
  existing: ["keep", "replace"],
  report: ["summary", "json", "none"],
};

/**
 * @typedef {object} Settings
 * @property {string[]} files `-` is the standard input.
 * @property {string} [output]
 * @property {"summary" | "json" | "none"} report
 * @property {boolean} strict
 * @property {boolean} help
 * @property {boolean} version
 * @property {string} [format]
 * @property {string[]} layouts Paths.
 * @property {string[]} tokenizers As written: `T` or `PATTERN=T`.
 * @property {string} [config]
 * @property {string} [compat]
 * @property {string} [existing]
 * @property {boolean} skipSpecialTokens
 * @property {boolean} dropIds
 * @property {number} [maxTextChars]
 * @property {boolean} messages
 */

/**
 * @param {"enrich" | "strip"} command
 * @param {string[]} args
 * @returns {Settings}
 */
export function parse(command, args) {
  return parseOptions({ ...(command === "enrich" ? ENRICHING : COMMON), ...MESSAGES, ...FILES }, args).settings;
}

/**
 * What is given for a table of options: as settings, and by the names of the options.
 *
 * @param {OptionTable} options
 * @param {string[]} args
 * @returns {{ settings: Settings, values: Record<string, any> }}
 */
export function parseOptions(options, args) {
  const { values, positionals } = parseTable(options, args);
  for (const [name, choices] of Object.entries(CHOICES)) {
    const value = values[name];
    if (value === undefined || choices.includes(value)) continue;
    throw new UsageError(`--${name} must be ${choices.join(", ")}, not \`${value}\``);
  }
  const settings = {
    files: positionals.length > 0 ? positionals : ["-"],
    output: values.output,
    report: values.report ?? "summary",
    strict: values.strict ?? false,
    help: values.help ?? false,
    version: values.version ?? false,
    format: values.format,
    layouts: values.layout ?? [],
    tokenizers: values.tokenizer ?? [],
    config: values.config,
    compat: values.compat,
    existing: values.existing,
    skipSpecialTokens: values["skip-special-tokens"] ?? false,
    dropIds: values["drop-ids"] ?? false,
    maxTextChars: wholeNumber("max-text-chars", values["max-text-chars"]),
    messages: values.messages ?? ("no-messages" in { ...options } && !values["no-messages"]),
  };
  return { settings, values };
}

/** @param {string} name @param {string | undefined} text */
export function wholeNumber(name, text) {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} must be a whole number, not \`${text}\``);
}

/** @param {OptionTable} options @param {string[]} args @returns {{ values: Record<string, any>, positionals: string[] }} */
function parseTable(options, args) {
  try {
    return parseArgs({ options, args, allowPositionals: true, strict: true });
  } catch (error) {
    // Node explains how to pass a positional argument that begins with a dash; one sentence is enough here.
    throw new UsageError(/** @type {Error} */ (error).message.split(". ")[0]);
  }
}
