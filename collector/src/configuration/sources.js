/** What flags and variables give, and where each of it stands. */
import { parseArgs } from "node:util";
import { ACTIONS, flagOf, variableOf } from "./options.js";
import { didYouMean, plainPlace } from "./place.js";

/** @typedef {import("./options.js").Option} Option */
/** A value as it was given, of a list all of them. @typedef {{ value: unknown, place: import("./place.js").Place }} Given */

/**
 * @param {Option[]} options
 * @param {string[]} args
 * @param {string[]} problems Where messages go.
 * @returns {{ given: Map<string, Given>, actions: Record<string, string | boolean | undefined>, named: Set<string> }} By the names of
 *   the options; `named` has also those whose value was wrong.
 */
export function fromFlags(options, args, problems) {
  const rows = [
    ...options.map(({ name, short, isList, kind }) => ({ name, short, isList, isSwitch: kind.placeholder === "" })),
    ...ACTIONS.map(({ name, short, placeholder }) => ({ name, short, isList: false, isSwitch: placeholder === "" })),
  ];
  const typeOf = (/** @type {boolean} */ isSwitch) => /** @type {"boolean" | "string"} */ (isSwitch ? "boolean" : "string");
  const table = Object.fromEntries(rows.map(({ name, short, isSwitch }) => [name, { type: typeOf(isSwitch), ...(short && { short }) }]));
  // Not strict, for then the first mistake would hide the others.
  const { tokens } = parseArgs({ args, options: table, strict: false, tokens: true, allowPositionals: true, allowNegative: true });
  /** @type {Map<string, Given>} */
  const given = new Map();
  /** @type {Record<string, string | boolean | undefined>} */
  const actions = {};
  /** @type {Set<string>} */
  const named = new Set();
  /** Where the value of an unknown option may stand. */
  let unknownAt = -2;
  for (const token of tokens) {
    if (token.kind === "option-terminator") continue;
    if (token.kind === "positional") {
      if (token.index === unknownAt + 1) continue;
      problems.push(`${token.value}: what is this for? Every value follows its option, as in --relay mlflow=5001,http://host:5000`);
      continue;
    }
    const isNegative = token.rawName.startsWith("--no-");
    const name = token.name.replace(/^no-/, "");
    const row = rows.find((row) => row.name === name);
    const place = plainPlace(row && !isNegative ? flagOf(row) : token.rawName, process.cwd(), problems);
    named.add(name);
    if (row === undefined || (isNegative && !row.isSwitch)) {
      unknownAt = token.index;
      place.fail(`there is no such option${didYouMean(name, rows.map(flagOf))}`);
    } else if (row.isSwitch && token.value !== undefined && token.inlineValue) {
      place.fail(`it takes no value; write ${flagOf(row)} or --no-${name}`);
    } else if (!row.isSwitch && (token.value === undefined || (!token.inlineValue && /^-./.test(token.value)))) {
      place.fail("its value is missing");
    } else {
      add(row, row.isSwitch ? !isNegative : token.value, place);
    }
  }
  return { given, actions, named };

  /** @param {{ name: string, isList?: boolean }} row @param {string | boolean | undefined} value @param {Given["place"]} place */
  function add(row, value, place) {
    if (ACTIONS.some(({ name }) => name === row.name)) actions[row.name] = value;
    else if (row.isList) given.set(row.name, { value: [...list(given.get(row.name)), value], place });
    else if (given.has(row.name) && typeof value !== "boolean") place.fail("it is given twice; leave one of them out");
    else given.set(row.name, { value, place });
  }
}

/** @param {Given | undefined} given */
function list(given) {
  return /** @type {unknown[]} */ (given?.value ?? []);
}

/**
 * Variables; an empty one is none. Several values in one are separated by semicolons.
 *
 * @param {Option[]} options
 * @param {NodeJS.ProcessEnv} env
 * @param {string[]} problems
 * @returns {Map<string, Given>}
 */
export function fromVariables(options, env, problems) {
  /** @type {Map<string, Given>} */
  const given = new Map();
  for (const option of options) {
    const text = env[variableOf(option)]?.trim();
    if (!text) continue;
    const value = option.isList ? text.split(/[;\n]/).map((part) => part.trim()).filter((part) => part !== "") : text;
    given.set(option.name, { value, place: plainPlace(variableOf(option), process.cwd(), problems) });
  }
  return given;
}

/**
 * Variables that look like options and are none. They are no mistake: Kubernetes, for one, sets variables for its services.
 *
 * @param {Option[]} options
 * @param {NodeJS.ProcessEnv} env
 */
export function strangeVariables(options, env) {
  const known = [...options.map(variableOf), "TOKEN2TEXT_CONFIG"];
  const strange = Object.keys(env).filter((name) => name.startsWith("TOKEN2TEXT_") && !known.includes(name));
  return strange
    .filter((name) => !/_SERVICE_|_PORT(_|$)/.test(name))
    .map((name) => `${name}: there is no such option, it is ignored${didYouMean(name, known)}`);
}
