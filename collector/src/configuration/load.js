/** The configuration of flags, variables and a file: the first of these that has an option counts, else the default. */
import { homedir, hostname } from "node:os";
import { join } from "node:path";
import { isWildcard } from "../operations/access.js";
import { DEFAULTS } from "./defaults.js";
import { fromFile } from "./file.js";
import { flagOf, optionsOf } from "./options.js";
import { plainPlace } from "./place.js";
import { problemsIn, warningsIn } from "./rules.js";
import { fromFlags, fromVariables, strangeVariables } from "./sources.js";
import { checkedLayouts, inOrder } from "./texts.js";

/** @typedef {import("../types.js").Configuration} Configuration */
/** @typedef {import("./options.js").Option} Option */
/** @typedef {import("./sources.js").Given} Given */
/**
 * @typedef {object} Loaded
 * @property {Configuration} configuration
 * @property {Option[]} options
 * @property {Map<string, string>} origins Where each option was given, by its name; of those with their defaults nothing.
 * @property {string[]} problems Each with its place; with any, the configuration is of no use.
 * @property {string[]} warnings
 * @property {Record<string, string | boolean | undefined>} actions `help`, `version`, `check`, `config`.
 */

/**
 * Reads and checks everything, files that are named included.
 *
 * @param {string[]} args
 * @param {NodeJS.ProcessEnv} env
 * @returns {Promise<Loaded>}
 * @example
 *   const { configuration, problems } = await load(["--tokenizer", "qwen", "--relay", "mlflow=5001,http://host:5000"], process.env);
 */
export async function load(args, env) {
  const options = optionsOf(env);
  /** @type {string[]} */
  const problems = [];
  const flags = fromFlags(options, args, problems);
  const { actions, named } = flags;
  const variables = fromVariables(options, env, problems);
  const name = /** @type {string | undefined} */ (actions.config) ?? (env.TOKEN2TEXT_CONFIG || undefined);
  const from = plainPlace(actions.config === undefined ? "TOKEN2TEXT_CONFIG" : "--config", process.cwd(), problems);
  const file = name === undefined ? new Map() : fromFile(options, name, from, problems);

  /** @type {Configuration} */
  const configuration = structuredClone(DEFAULTS);
  configuration.cacheFolder = join(cacheOf(env), "token2text");
  /** @type {Map<string, string>} */
  const origins = new Map();
  for (const option of options) {
    const given = flags.given.get(option.name) ?? variables.get(option.name) ?? file.get(option.name);
    if (given === undefined && named.has(option.name)) origins.set(option.name, flagOf(option));
    if (given === undefined) continue;
    origins.set(option.name, given.place.label);
    const value = await read(option, given);
    if (value !== undefined) put(configuration, option, value);
  }
  // Of every interface, the machine's own name is what other machines write.
  const listens = [configuration.receive, configuration.admin, ...configuration.relays.map(({ listen }) => listen)];
  if (listens.some((address) => address && isWildcard(address.host))) configuration.access.hosts.push(hostname().toLowerCase());

  problems.push(...problemsIn(configuration, origins));
  return { configuration, options, origins, problems, actions, warnings: [...strangeVariables(options, env), ...warningsIn(configuration)] };
}

/** @param {Option} option @param {Given} given @returns {Promise<unknown>} */
async function read({ name, isList, kind }, { value, place }) {
  if (!isList) return kind.read(value, place);
  const several = kind.members?.(value, place) ?? (Array.isArray(value) ? value.map((member, index) => [member, place.inside(index)]) : undefined);
  const members = several ?? [[value, place]];
  /** @type {any[]} */
  const values = members.map(([member, at]) => kind.read(member, at));
  if (values.includes(undefined)) return undefined;
  if (name === "tokenizer") return inOrder(values, place);
  return name === "layout" ? checkedLayouts(values, place) : values;
}

/** @param {Configuration} configuration @param {Option} option @param {any} value */
function put(configuration, { into, means }, value) {
  const path = into.split(".");
  const last = /** @type {string} */ (path.pop());
  /** @type {any} */
  const holder = path.reduce((holder, key) => holder[key], /** @type {any} */ (configuration));
  holder[last] = means && value in means ? means[value] : value;
}

/** Where the user's programs keep what can be made again. @param {NodeJS.ProcessEnv} env */
function cacheOf(env) {
  if (process.platform === "darwin") return join(homedir(), "Library/Caches");
  if (process.platform === "win32") return env.LOCALAPPDATA || join(homedir(), "AppData/Local");
  return env.XDG_CACHE_HOME || join(homedir(), ".cache");
}
