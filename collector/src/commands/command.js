/** What the commands for dead letters have in common: their arguments, their help, their mistakes. */
import { parseArgs } from "node:util";
import { openBeside } from "../store/open.js";

/** An option of a command. `placeholder` is empty for a switch. @typedef {{ placeholder: string, isList?: true, help: string }} CommandOption */
/** @typedef {{ export?: string, id?: string[], json?: boolean, all?: boolean }} Values */
/**
 * @typedef {object} Command
 * @property {string} name
 * @property {string} summary One line.
 * @property {string} details The rest of its help.
 * @property {Record<string, CommandOption>} options
 * @property {(database: import("better-sqlite3").Database, which: import("../forwarding/dead-letters.js").Which, values: Values) => Done} run
 * @property {(values: Values) => string | undefined} [check] What is wrong with what was given.
 */
/** What is printed, and the exit status. @typedef {{ text: string, status: number }} Done */

const PROGRAM = "token2text-collector";
const COLUMN = 16;
export const WHICH = {
  export: { placeholder: "NAME", help: "only those of this export, as the list names it" },
  id: { placeholder: "N", isList: /** @type {const} */ (true), help: "only this one; may be repeated" },
};

/**
 * Runs a command on the file of a store, also beside the collector that keeps it.
 *
 * @param {Command} command
 * @param {string[]} args What follows its name.
 * @returns {Done} Status 0: done; 1: nothing is as asked for, or the store is busy; 2: wrong usage, or no store.
 */
export function runCommand(command, args) {
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
    files.length !== 1 ? "name one file, that of --store" : ids.some((id) => !Number.isSafeInteger(id) || id < 1) ? "an --id is a number of the list" : command.check?.(values);
  if (mistake) return wrong(command, mistake);
  try {
    const database = openBeside(files[0]);
    try {
      return command.run(database, { export: values.export, ids: values.id && ids }, values);
    } finally {
      database.close();
    }
  } catch (error) {
    const { code = "", message } = /** @type {NodeJS.ErrnoException} */ (error);
    return code.startsWith("SQLITE_") ? { text: `${PROGRAM} ${command.name}: ${files[0]}: ${message}\n`, status: 1 } : wrong(command, message);
  }
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
  ${PROGRAM} ${name} STORE ${Object.keys(options).length > 0 ? "[options]" : ""}

STORE is the file of --store. The collector may run meanwhile.

Options:
${lines.join("")}
${details}
Exit status: 0 done; 1 there is nothing as asked for, or the store is busy; 2 wrong usage, or the file is no store.
`;
}

/** @param {number} count @param {string} [what] */
export function counted(count, what = "dead letter") {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
