/** What the commands for dead letters have in common: their arguments, their help, their mistakes. */
import { parseArgs } from "node:util";
import { queueAt } from "../configuration/queue.js";
import { plainPlace } from "../configuration/place.js";
import { giveUp, list, tryAgain } from "../forwarding/dead-letters.js";
import { openBeside } from "../store/open.js";

/** An option of a command. `placeholder` is empty for a switch. @typedef {{ placeholder: string, isList?: true, help: string }} CommandOption */
/** @typedef {{ export?: string, id?: string[], json?: boolean, all?: boolean }} Values */
/**
 * @typedef {object} Command
 * @property {string} name
 * @property {string} summary One line.
 * @property {string} details The rest of its help.
 * @property {Record<string, CommandOption>} options
 * @property {(letters: Letters, which: Which, values: Values) => Promise<Done>} run
 * @property {(values: Values) => string | undefined} [check] What is wrong with what was given.
 */
/** @typedef {import("../forwarding/dead-letters.js").Letter} Letter */
/** @typedef {import("../forwarding/dead-letters.js").Which} Which */
/** @template Value @typedef {Value | Promise<Value>} Now */
/**
 * The dead letters of a store or a queue.
 *
 * @typedef {object} Letters
 * @property {(which: Which) => Now<Letter[]>} list The oldest first.
 * @property {(which: Which) => Now<number>} tryAgain How many.
 * @property {(which: Which) => Now<Letter[]>} giveUp Those that were given up.
 * @property {() => unknown} close
 */
/** What is printed, and the exit status. @typedef {{ text: string, status: number }} Done */

const PROGRAM = "token2text-collector";
const COLUMN = 16;
export const WHICH = {
  export: { placeholder: "NAME", help: "only those of this export, as the list names it" },
  id: { placeholder: "N", isList: /** @type {const} */ (true), help: "only this one; may be repeated" },
};

/** What a queue's address begins with. */
const QUEUE = /^(nats|tls):/i;

/**
 * Runs a command on the file of a store, also beside the collector that keeps it, or on a queue.
 *
 * @param {Command} command
 * @param {string[]} args What follows its name.
 * @returns {Promise<Done>} Status 0: done; 1: nothing is as asked for, or the store is busy, or the queue away; 2: wrong usage, or no store.
 */
export async function runCommand(command, args) {
  /** @type {Values & { help?: boolean }} */
  let values;
  /** @type {string[]} */
  let files;
  try {
    ({ values, positionals: files } = parsed(command, args));
  } catch (error) {
    return wrong(command, /** @type {Error} */ (error).message.split(". ")[0]);
  }
  if (values.help) return { text: helpOf(command), status: 0 };
  const ids = (values.id ?? []).map(Number);
  const mistake =
    files.length !== 1 ? "name one file, that of --store, or one queue" : ids.some((id) => !Number.isSafeInteger(id) || id < 1) ? "an --id is a number of the list" : command.check?.(values);
  if (mistake) return wrong(command, mistake);
  try {
    const letters = await (QUEUE.test(files[0]) ? ofQueue(files[0]) : ofStore(files[0]));
    try {
      return await command.run(letters, { export: values.export, ids: values.id && ids }, values);
    } finally {
      await letters.close();
    }
  } catch (error) {
    const { code = "", name, message } = /** @type {NodeJS.ErrnoException} */ (error);
    const mayPass = code.startsWith("SQLITE_") || name === "Away";
    return mayPass ? { text: `${PROGRAM} ${command.name}: ${name === "Away" ? "" : `${files[0]}: `}${message}\n`, status: 1 } : wrong(command, message);
  }
}

/** @param {string} file @returns {Letters} */
function ofStore(file) {
  const database = openBeside(file);
  return {
    list: (which) => list(database, which),
    tryAgain: (which) => tryAgain(database, which),
    giveUp: (which) => giveUp(database, which),
    close: () => database.close(),
  };
}

/** @param {string} text @returns {Promise<Letters>} */
async function ofQueue(text) {
  /** @type {string[]} */
  const problems = [];
  const target = queueAt(process.env).read(text, plainPlace("the queue", process.cwd(), problems));
  if (problems.length > 0) throw new Error(problems.join("; "));
  const { openLetters } = await import("../queue/letters.js");
  return openLetters(/** @type {import("../types.js").QueueTarget} */ (target));
}

/** @param {Command} command @param {string[]} args @returns {{ values: any, positionals: string[] }} */
function parsed({ options }, args) {
  const rows = Object.entries(options).map(([name, { placeholder, isList = false }]) => {
    return [name, { type: /** @type {"boolean" | "string"} */ (placeholder === "" ? "boolean" : "string"), multiple: isList }];
  });
  return parseArgs({ args, options: { ...Object.fromEntries(rows), help: { type: "boolean", short: "h" } }, allowPositionals: true });
}

/** @param {Command} command @param {string} mistake @returns {Done} */
function wrong({ name }, mistake) {
  return { text: `${PROGRAM} ${name}: ${mistake}\n${PROGRAM} ${name}: \`${PROGRAM} ${name} --help\` says more\n`, status: 2 };
}

/** @param {Command} command */
function helpOf({ name, summary, details, options }) {
  const rows = [...Object.entries(options), /** @type {[string, CommandOption]} */ (["help", { placeholder: "", help: "this text" }])];
  const lines = rows.map(([option, { placeholder, help }]) => `${`  --${option} ${placeholder}`.padEnd(COLUMN)} ${help}\n`);
  return `${PROGRAM} ${name}: ${summary}

Usage:
  ${PROGRAM} ${name} STORE [options]
  ${PROGRAM} ${name} nats://HOST:PORT[,NAME=VALUE] [options]

STORE is the file of --store; a queue is written as for --queue. The collector may run meanwhile.

Options:
${lines.join("")}
${details}
Exit status: 0 done; 1 there is nothing as asked for, the store is busy or the queue away; 2 wrong usage, or the file is no store.
`;
}

/** @param {number} count @param {string} [what] */
export function counted(count, what = "dead letter") {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
