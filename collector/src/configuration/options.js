/**
 * The table of options. Flags, variables, keys of the file, --help, --check and the reference in README.md are made of it.
 *
 * A flag is `--` and the name, a variable TOKEN2TEXT_ and the name in capitals. Defaults are in defaults.js.
 */
import { address, age, bytes, choice, duration, file, folder, hostName, keptFile, origin, secret, secretFile, share, wholeNumber, yesOrNo } from "./kinds.js";
import { exportTo, relay } from "./targets.js";
import { layout, tokenizer } from "./texts.js";

/** @typedef {import("./kinds.js").Kind} Kind */
/**
 * @typedef {object} Option
 * @property {string} name
 * @property {string} group The heading under which --help has it.
 * @property {Kind} kind
 * @property {string} help
 * @property {string} into Where in a Configuration its value goes.
 * @property {string} [key] In the file, if not the name: of lists the plural.
 * @property {boolean} [isList] Whether it may be given several times.
 * @property {string} [short] One letter.
 * @property {Record<string, unknown>} [means] What a value stands for in a Configuration, if not for itself.
 */

/** @type {(env: NodeJS.ProcessEnv) => Option[]} */
export const optionsOf = (env) => [
  {
    name: "tokenizer", key: "tokenizers", short: "t", isList: true, kind: tokenizer, into: "tokenizers", group: "Texts",
    help: "a tokenizer.json, or the folder that holds it; with a pattern for the models whose names it matches",
  },
  {
    name: "tokenizer-config", kind: file, into: "tokenizerOptions.config", group: "Texts",
    help: "tokenizer_config.json, for --compat transformers4 or transformers5",
  },
  {
    name: "compat", kind: choice(["tokenizers", "transformers4", "transformers5"]), into: "tokenizerOptions.compat", group: "Texts",
    help: "whose decode is followed, without it that of tokenizers",
  },
  {
    name: "layout", key: "layouts", isList: true, kind: layout, into: "enrichment.layouts", group: "Texts",
    help: "where ids stand: a file, or the name of a built-in layout; the first that fits counts, `auto` stands for all built-in ones, which are taken without this option",
  },
  {
    name: "existing", kind: choice(["keep", "replace"]), into: "enrichment.existing", group: "Texts",
    help: "what becomes of text that is there already",
  },
  {
    name: "skip-special-tokens", kind: yesOrNo, into: "enrichment.skipSpecialTokens", group: "Texts",
    help: "leave special tokens out of the text",
  },
  {
    name: "drop-ids", kind: yesOrNo, into: "enrichment.ids", means: { true: "drop", false: "keep" }, group: "Texts",
    help: "take ids out when their text is written and says everything",
  },
  {
    name: "max-text-chars", kind: wholeNumber(1, Infinity), into: "enrichment.maxTextChars", group: "Texts",
    help: "cut each text after so many characters",
  },
  {
    name: "messages", kind: yesOrNo, into: "enrichment.messages", group: "Texts",
    help: "also write the conversation that the ids are, by the tokenizer's chat template, where the backend shows one; --no-messages: write texts alone",
  },
  {
    name: "relay", key: "relays", isList: true, kind: relay, into: "relays", group: "Relay",
    help: "listen at LISTEN (a port, or HOST:PORT) and pass everything on to URL; BACKEND is mlflow, trackio, weave or otlp",
  },
  {
    name: "enrich-reads", kind: yesOrNo, into: "enrichReads", group: "Relay",
    help: "also write texts into traces that are read through a relay; what is stored stays as it is",
  },
  {
    name: "viewer", kind: yesOrNo, into: "viewer", group: "Relay",
    help: "show token2text's viewer at the address of each relay under /token2text/, with these tokenizers open",
  },
  {
    name: "receive", kind: address, into: "receive", group: "Receiver",
    help: "take OTLP over HTTP here, decode it and export it",
  },
  {
    name: "export", key: "exports", isList: true, kind: exportTo(env), into: "exports", group: "Receiver",
    help: "where received spans go, as `BACKEND=URL,NAME=VALUE,...`; each backend has names of its own",
  },
  {
    name: "store", kind: keptFile, into: "store.file", group: "Receiver",
    help: "keep what is received in this file, and answer as soon as it is there; without --export it stays there to be read",
  },
  {
    name: "store-size", kind: bytes, into: "store.bytes", group: "Receiver",
    help: "most bytes that the store may use: what every export has settled goes, oldest first; if that is not enough, senders are told to try again later",
  },
  {
    name: "store-age", kind: age, into: "store.ageMillis", group: "Receiver",
    help: "how long what is stored is kept at most, once every export has settled it",
  },
  {
    name: "sample", kind: share, into: "sample", group: "Work",
    help: "the share of samples, with all their rollouts, that is decoded by relays and exported by the receiver",
  },
  {
    name: "workers", kind: wholeNumber(1, 256), into: "workers", group: "Work",
    help: "threads that decode; bodies up to 8 KiB are decoded where they arrive",
  },
  {
    name: "enrich-timeout", kind: duration, into: "limits.enrichMillis", group: "Work",
    help: "longest time for decoding a body; after it the body goes on as it came",
  },
  {
    name: "max-body", kind: bytes, into: "limits.bodyBytes", group: "Work",
    help: "largest body that is decoded, after decompression; a relay passes larger ones on as they came, the receiver refuses them",
  },
  {
    name: "max-held", kind: bytes, into: "limits.heldBytes", group: "Work",
    help: "most bytes of bodies in memory at once; what comes beyond that goes on as it came, or is refused to be sent again later",
  },
  {
    name: "worker-memory", kind: bytes, into: "limits.workerBytes", group: "Work",
    help: "a worker whose WebAssembly has grown beyond that is replaced after its body",
  },
  {
    name: "drain-timeout", kind: duration, into: "limits.drainMillis", group: "Work",
    help: "longest time that requests under way may take after the signal to stop",
  },
  {
    name: "cache", kind: folder, into: "cacheFolder", means: { none: undefined }, group: "Work",
    help: "folder of packed tokenizers, which load faster; none: keep none. Without it, the user's folder for caches",
  },
  {
    name: "admin", kind: address, into: "admin", group: "Operation",
    help: "answer /health and /metrics (Prometheus) here",
  },
  {
    name: "token", kind: secret, into: "access.token", group: "Operation",
    help: "what senders to --receive and readers of --admin must show: `Authorization: Bearer TOKEN`. Others on this machine can see flags: rather set the variable, or --token-file",
  },
  {
    name: "token-file", kind: secretFile, into: "access.token", group: "Operation",
    help: "a file that holds this token",
  },
  {
    name: "allow-host", key: "allow-hosts", isList: true, kind: hostName, into: "access.hosts", group: "Operation",
    help: "a further name by which clients may address the listeners; localhost and the address itself are always good",
  },
  {
    name: "allow-origin", key: "allow-origins", isList: true, kind: origin, into: "access.origins", group: "Operation",
    help: "pages of this origin may send to --receive and read --admin",
  },
  {
    name: "log-level", kind: choice(["trace", "debug", "info", "warn", "error", "silent"]), into: "logLevel", group: "Operation",
    help: "what is told on standard error, as lines of JSON, on a terminal as lines for people",
  },
];

/** What is no configuration but asks for something: only as flags, --config also as a variable. */
export const ACTIONS = [
  { name: "config", placeholder: "FILE", help: "read options from a file of YAML or JSON; flags come before variables, these before the file" },
  { name: "check", placeholder: "", help: "check everything, load the tokenizers, print the resulting configuration and end" },
  { name: "version", placeholder: "", help: "the version" },
  { name: "help", short: "h", placeholder: "", help: "this text" },
];

/** @param {{ name: string }} option */
export function flagOf({ name }) {
  return `--${name}`;
}

/** @param {{ name: string }} option */
export function variableOf({ name }) {
  return `TOKEN2TEXT_${name.toUpperCase().replaceAll("-", "_")}`;
}

/** @param {Option} option */
export function keyOf({ name, key }) {
  return key ?? name;
}

/**
 * What a Configuration has for an option.
 *
 * @param {import("../types.js").Configuration} configuration
 * @param {Option} option
 * @returns {unknown}
 */
export function valueOf(configuration, { into }) {
  return into.split(".").reduce((value, name) => value?.[name], /** @type {any} */ (configuration));
}
