import { readFileSync } from "node:fs";
import { Token2TextError } from "../node.js";
import { UsageError, parse } from "./args.js";
import * as help from "./help.js";
import { planOutputs } from "./output.js";
import { Progress } from "./progress.js";
import { runFile } from "./run.js";
import { prepareEnrich, prepareStrip } from "./setup.js";
import { Summary } from "./summary.js";

const COMMANDS = {
  enrich: { prepare: prepareEnrich, help: help.ENRICH },
  strip: { prepare: prepareStrip, help: help.STRIP },
};
/** Commands that take no records from files. */
const OTHERS = {
  check: async () => (await import("./check.js")).check,
  view: async () => (await import("./view.js")).view,
  pack: async () => (await import("./pack.js")).pack,
  mlflow: async () => (await import("./mlflow.js")).mlflow,
  trackio: async () => (await import("./trackio.js")).trackio,
};

/**
 * Runs the command line.
 *
 * @param {string[]} args
 * @returns {Promise<number>} The exit status.
 */
export async function main(args) {
  process.stdout.on("error", endQuietly);
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(signal === "SIGINT" ? 130 : 143));
  try {
    return await dispatch(args);
  } catch (error) {
    if (!(error instanceof UsageError) && !(error instanceof Token2TextError)) throw error;
    process.stderr.write(`token2text: ${error.message}\n`);
    return 2;
  }
}

/** A reader such as `head` that has seen enough is no error. @param {NodeJS.ErrnoException} error */
function endQuietly(error) {
  if (error.code === "EPIPE") process.exit(0);
  process.stderr.write(`token2text: cannot write the standard output: ${error.message}\n`);
  process.exit(2);
}

/** @param {string[]} args */
async function dispatch([name, ...args]) {
  if (name === undefined) throw new UsageError("a command is missing: enrich, strip, check, view, pack, mlflow or trackio; `token2text --help` tells more");
  if (name === "--help" || name === "-h") return print(help.MAIN);
  if (name === "--version") return print(`${version()}\n`);
  if (name in OTHERS) return (await OTHERS[/** @type {keyof typeof OTHERS} */ (name)]())(args);
  if (name !== "enrich" && name !== "strip") {
    throw new UsageError(`there is no command \`${name}\`; \`token2text --help\` lists them`);
  }
  const settings = parse(name, args);
  if (settings.help) return print(COMMANDS[name].help);
  if (settings.version) return print(`${version()}\n`);
  return run(name, settings);
}

/** @param {string} text */
function print(text) {
  process.stdout.write(text);
  return 0;
}

function version() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}

/** @param {keyof typeof COMMANDS} command @param {import("./args.js").Settings} settings */
async function run(command, settings) {
  const { files, report, strict } = settings;
  const outputs = await planOutputs(files, settings.output);
  const change = await COMMANDS[command].prepare(settings);
  const summary = new Summary();
  const progress = new Progress(settings.output !== undefined || !process.stdout.isTTY);
  const told = tellers(report, summary, progress);
  let status = 0;
  for (const [i, file] of files.entries()) {
    try {
      await runFile(file, outputs[i], { change, progress, ...told });
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      progress.clear();
      process.stderr.write(`token2text: ${error.message}\n`);
      status = 2;
    }
  }
  progress.clear();
  if (report === "summary") process.stderr.write(command === "enrich" ? summary.toString() : summary.problemText());
  return status || (strict && summary.incomplete ? 1 : 0);
}

/**
 * What is done with the report of each record.
 *
 * @param {"summary" | "json" | "none"} kind
 * @param {Summary} summary
 * @param {Progress} progress
 * @returns {Pick<import("./run.js").Job, "onReport" | "onBroken">}
 */
function tellers(kind, summary, progress) {
  /** @param {object} value */
  const writeJson = (value) => {
    progress.clear();
    process.stderr.write(`${JSON.stringify(value)}\n`);
  };
  return {
    onReport(report, file, line) {
      summary.add(report, place(file, line));
      if (kind === "json") writeJson({ file, line, ...report });
    },
    onBroken(error, file, line) {
      summary.addBroken(error.code, error.message, place(file, line));
      if (kind === "json") writeJson({ file, line, error: { code: error.code, message: error.message } });
    },
  };
}

/** @param {string} file @param {number} [line] */
function place(file, line) {
  const name = file === "-" ? "stdin" : file;
  return line === undefined ? name : `${name}:${line}`;
}
