/** What options must be to each other. */
import { isLoopback, isWildcard } from "../operations/access.js";
import { DEFAULTS } from "./defaults.js";
import { showAddress } from "./kinds.js";
import { exportName } from "./targets.js";

/** @typedef {import("../types.js").Configuration} Configuration */
/** @typedef {import("../types.js").Address} Address */

/**
 * Each is looked at if what it needs was given without mistakes.
 *
 * @type {{ option: string, isWrong: (configuration: Configuration, given: (name: string) => boolean) => boolean, message: string }[]}
 */
const RULES = [
  {
    option: "tokenizer",
    isWrong: (_, given) => !given("tokenizer"),
    message: "there is none; write --tokenizer tokenizer.json, or --tokenizer 'Qwen/*=FILE' for some models only",
  },
  {
    option: "relay",
    isWrong: (_, given) => !given("relay") && !given("receive") && !given("export"),
    message: "there is nothing to listen to; write --relay mlflow=5001,http://host:5000, or --receive 4318 with --export mlflow=http://host:5000",
  },
  {
    option: "export",
    isWrong: (_, given) => given("receive") && !given("export") && !given("store"),
    message: "nothing takes what is received; write --export mlflow=http://host:5000,experiment=NAME, or another backend, or --store FILE",
  },
  {
    option: "export",
    isWrong: (_, given) => given("export") && !given("receive"),
    message: "nothing is received; write --receive 4318 too",
  },
  {
    option: "store",
    isWrong: (_, given) => given("store") && !given("receive"),
    message: "nothing is received; write --receive 4318 too",
  },
  {
    option: "store-size",
    // What --check prints has the default.
    isWrong: ({ store }, given) => store.bytes !== DEFAULTS.store.bytes && !given("store"),
    message: "there is no store; write --store FILE too",
  },
  {
    option: "store-age",
    isWrong: (_, given) => given("store-age") && !given("store"),
    message: "there is no store; write --store FILE too",
  },
  {
    option: "export",
    isWrong: ({ store, exports }) => store.file !== undefined && new Set(exports.map(exportName)).size < exports.length,
    message: "two exports go to the same place; with --store each needs one of its own",
  },
  {
    option: "token",
    isWrong: (_, given) => given("token") && given("token-file"),
    message: "there is a token and a file with one; leave one of them out",
  },
  {
    option: "tokenizer-config",
    isWrong: ({ tokenizerOptions: { compat = "tokenizers" } }, given) => given("tokenizer-config") && compat === "tokenizers",
    message: "it is read for transformers only; write --compat transformers4 or --compat transformers5 too",
  },
  {
    option: "max-held",
    isWrong: ({ limits }) => limits.heldBytes < limits.bodyBytes,
    message: "it is less than one body of --max-body; write more, or less there",
  },
];

/**
 * @param {Configuration} configuration
 * @param {Map<string, string>} origins Where each option was given.
 * @returns {string[]}
 */
export function problemsIn(configuration, origins) {
  const place = (/** @type {string} */ name) => origins.get(name) ?? `--${name}`;
  const broken = RULES.filter(({ isWrong }) => isWrong(configuration, (name) => origins.has(name)));
  const problems = broken.map(({ option, message }) => `${place(option)}: ${message}`);
  const listeners = listenersOf(configuration);
  for (const [index, { option, address }] of listeners.entries()) {
    if (listeners.slice(0, index).some((other) => isSame(other.address, address))) {
      problems.push(`${place(option)}: ${showAddress(address)} is taken by another listener; choose another port`);
    }
  }
  const targets = [
    ...configuration.relays.map(({ upstream }) => ({ option: "relay", url: upstream })),
    ...configuration.exports.map(({ url }) => ({ option: "export", url: new URL(url) })),
  ];
  for (const { option, url } of targets) {
    const target = { host: url.hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(url.port || (url.protocol === "https:" ? 443 : 80)) };
    if (listeners.some(({ address }) => isSame(address, target))) {
      problems.push(`${place(option)}: ${url.origin} is this collector itself; write the address of the backend`);
    }
  }
  return problems;
}

/**
 * What can be used but should be known.
 *
 * @param {Configuration} configuration
 * @returns {string[]}
 */
export function warningsIn(configuration) {
  const open = configuration.access.token !== undefined ? [] : listenersOf(configuration).filter(isOpen);
  return [
    ...(configuration.tokenizers.some(({ pattern }) => pattern === "*") ? [] : [NO_MODEL]),
    ...open.map(({ option, address }) => `--${option}: whoever reaches ${showAddress(address)} may use it; set TOKEN2TEXT_TOKEN or --token-file`),
  ];
}

/** Which models made them, verl's spans do not say. */
const NO_MODEL = "--tokenizer: spans that name no model, such as all of verl's, stay undecoded; for them add a tokenizer without a pattern: --tokenizer FILE";

/** @param {{ option: string, address: Address }} listener */
function isOpen({ option, address }) {
  return option !== "relay" && !isLoopback(address.host);
}

/** @param {Configuration} configuration @returns {{ option: string, address: Address }[]} */
function listenersOf({ relays, receive, admin }) {
  return [
    ...relays.map(({ listen }) => ({ option: "relay", address: listen })),
    ...(receive ? [{ option: "receive", address: receive }] : []),
    ...(admin ? [{ option: "admin", address: admin }] : []),
  ];
}

/** Whether one cannot listen where the other does. @param {Address} a @param {Address} b */
function isSame(a, b) {
  if (a.port !== b.port || a.port === 0) return false;
  const isHere = (/** @type {string} */ host) => isLoopback(host) || isWildcard(host);
  return a.host === b.host || (isHere(a.host) && isHere(b.host));
}
