/** The configuration for people: --help, and what --check prints. */
import { stringify } from "yaml";
import { DEFAULTS } from "./defaults.js";
import { yesOrNo } from "./kinds.js";
import { ACTIONS, flagOf, keyOf, valueOf, variableOf } from "./options.js";
import { BACKENDS, EXPORT_OPTIONS, exportNames } from "./targets.js";

/** @typedef {import("./options.js").Option} Option */
/** @typedef {import("../types.js").Configuration} Configuration */

const WIDTH = 110;
const COLUMN = 25;

/**
 * The resulting configuration as a file of YAML, with the place of each option after it. Secrets are hidden.
 *
 * @param {import("./load.js").Loaded} loaded
 */
export function showConfiguration({ configuration, options, origins }) {
  return options
    .map((option) => {
      const value = written(option, valueOf(configuration, option));
      // Two options give the token.
      const isOfAnother = options.some((other) => other !== option && other.into === option.into && origins.has(other.name));
      if (value === undefined || isOfAnother) return "";
      const [first, ...rest] = stringify({ [keyOf(option)]: value }, { lineWidth: 0 }).split("\n");
      return [`${first} # ${origins.get(option.name) ?? "default"}`, ...rest].join("\n");
    })
    .join("");
}

/**
 * A value as a file has it; undefined for none.
 *
 * @param {Option} option
 * @param {unknown} value
 */
export function written({ kind, isList, means }, value) {
  const meant = Object.entries(means ?? {}).find(([, meaning]) => meaning === value)?.[0];
  if (meant !== undefined) return kind === yesOrNo ? meant === "true" : meant;
  if (value === undefined || (isList && /** @type {unknown[]} */ (value).length === 0)) return undefined;
  const show = kind.show ?? ((/** @type {unknown} */ one) => one);
  return isList ? /** @type {unknown[]} */ (value).map(show) : show(value);
}

/** The default of an option in words; undefined if there is none. @param {Option} option */
export function defaultOf(option) {
  if (option.name === "workers") return "cores - 1, 1 to 4";
  const value = valueOf(DEFAULTS, option);
  const shown = value === undefined ? undefined : written(option, value);
  return shown === undefined || shown === false ? undefined : String(shown);
}

/** The text of --help. @param {Option[]} options */
export function helpText(options) {
  const groups = [...new Set(options.map(({ group }) => group))].map((group) => {
    const lines = options.filter((option) => option.group === group).map(helpOf);
    return `${group}:\n${lines.join("")}`;
  });
  const actions = ACTIONS.map(({ name, short, placeholder, help }) => entry(flagsOf(name, short, placeholder), help));
  return `${USAGE}\n${groups.join("\n")}\nThis command:\n${actions.join("")}\n${exportHelp()}${NOTES}`;
}

/** @param {Option} option */
function helpOf(option) {
  const fallback = defaultOf(option);
  const more = `${option.isList ? "; may be repeated" : ""}${fallback === undefined ? "" : ` (default: ${fallback})`}`;
  const words = option.kind.expected === undefined ? "" : `: ${option.kind.expected}`;
  return entry(flagsOf(option.name, option.short, option.kind.placeholder), option.help + words + more);
}

/** @param {string} name @param {string | undefined} short @param {string} placeholder */
function flagsOf(name, short, placeholder) {
  return `  ${short ? `-${short}, ` : "    "}${flagOf({ name })}${placeholder === "" ? "" : ` ${placeholder}`}`;
}

/** @param {string} flags @param {string} help */
function entry(flags, help) {
  const lines = wrap(help.replaceAll("`", ""), WIDTH - COLUMN).map((line) => `${" ".repeat(COLUMN)}${line}\n`);
  return flags.length < COLUMN - 1 ? lines.join("").replace(/^ */, flags.padEnd(COLUMN)) : `${flags}\n${lines.join("")}`;
}

/** @param {string} text @param {number} width */
function wrap(text, width) {
  /** @type {string[]} */
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines[lines.length - 1];
    if (line !== "" && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === "" ? word : `${line} ${word}`;
  }
  return lines;
}

/** What may follow the URL of --export. */
function exportHelp() {
  const rows = BACKENDS.map((backend) => {
    const names = exportNames(backend).map((name) => (EXPORT_OPTIONS[backend][name]?.isNeeded ? `${name} (needed)` : name));
    return entry(`  ${backend}`, names.join(", "));
  });
  return `Names for --export BACKEND=URL,NAME=VALUE,...; -env names a variable that holds the value, -file a file:\n${rows.join("")}`;
}

const USAGE = `token2text-collector: puts text next to token ids in LLM traces on their way to MLflow, Trackio, Weave or OTLP

Usage:
  token2text-collector --tokenizer T --relay BACKEND=LISTEN,URL [options]       between a program and its backend
  token2text-collector --tokenizer T --receive LISTEN --export BACKEND=URL ...  a receiver of OTLP
  token2text-collector --tokenizer T --receive LISTEN --store FILE ...          one that keeps what it receives
  token2text-collector dead-letters | retry | give-up STORE                     what exports refuse; each has --help

Examples:
  verl and MLflow: the trainer sets MLFLOW_TRACKING_URI=http://127.0.0.1:5001
    token2text-collector -t Qwen3-8B/ --relay mlflow=5001,http://mlflow.example:5000
  Trackio: the trainer sets TRACKIO_SERVER_URL=http://127.0.0.1:7861
    token2text-collector -t Qwen3-8B/ --relay trackio=7861,http://127.0.0.1:7860
  Weave: the trainer sets WF_TRACE_SERVER_URL=http://127.0.0.1:5002
    token2text-collector -t Qwen3-8B/ --relay weave=5002,https://trace.wandb.ai
  OTLP: programs set OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 and OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
    token2text-collector -t Qwen3-8B/ --receive 4318 --export mlflow=http://mlflow.example:5000,experiment=rollouts
  Traces that MLflow has stored as ids, read with text at http://127.0.0.1:5001
    token2text-collector -t Qwen3-8B/ --relay mlflow=5001,http://mlflow.example:5000 --enrich-reads
`;

const NOTES = `
Every option is a variable too, TOKEN2TEXT_ and its name in capitals (${variableOf({ name: "log-level" })}=debug; several values with
semicolons between), and a key of the file of --config (log-level: debug; lists in the plural, relays).

Exit status: 0 stopped after a signal, with all requests answered; 1 failed later; 2 wrong usage or configuration.
`;
