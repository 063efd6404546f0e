/** The command `token2text-collector`. */
import { readFileSync } from "node:fs";
import { Tokenizer, Token2TextError } from "token2text";
import { clientUrl, showAddress } from "./configuration/kinds.js";
import { load } from "./configuration/load.js";
import { helpText, showConfiguration } from "./configuration/show.js";
import { createLog } from "./operations/log.js";

/** @typedef {import("./types.js").Configuration} Configuration */
/** @typedef {import("./types.js").Listener} Listener */

const NAME = "token2text-collector";
const SIGNALS = /** @type {const} */ (["SIGTERM", "SIGINT"]);

/** What those who send to a listener set, by its name without `relay`. @type {Record<string, (url: string) => string>} */
const TO_SET = {
  mlflow: (url) => `MLFLOW_TRACKING_URI=${url}`,
  trackio: (url) => `TRACKIO_SERVER_URL=${url}`,
  weave: (url) => `WF_TRACE_SERVER_URL=${url}`,
  otlp: (url) => `OTEL_EXPORTER_OTLP_ENDPOINT=${url} OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`,
  receive: (url) => `OTEL_EXPORTER_OTLP_ENDPOINT=${url} OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`,
};

/**
 * Runs the command: serves until a signal asks it to stop.
 *
 * @param {string[]} args
 * @returns {Promise<number>} The exit status.
 */
export async function main(args) {
  process.stdout.on("error", (error) => process.exit(/** @type {NodeJS.ErrnoException} */ (error).code === "EPIPE" ? 0 : 2));
  const loaded = await load(args, process.env);
  const { configuration, problems, warnings, actions } = loaded;
  if (actions.help) return print(helpText(loaded.options));
  if (actions.version) return print(`${version()}\n`);
  if (problems.length > 0) return refuse([...problems, `\`${NAME} --help\` lists the options`]);
  if (actions.check) return check(loaded);
  const log = createLog(configuration.logLevel);
  for (const warning of warnings) log.warn(warning);
  return serve(configuration, log);
}

/** @param {import("./configuration/load.js").Loaded} loaded */
async function check(loaded) {
  const { tokenizers, tokenizerOptions } = loaded.configuration;
  const { createExports } = await import("./receive/exports.js");
  /** @type {string[]} */
  const problems = [];
  for (const { file } of tokenizers) {
    try {
      (await Tokenizer.load(file, tokenizerOptions)).free();
    } catch (error) {
      problems.push(`--tokenizer: ${inWords(error)}`);
    }
  }
  try {
    createExports(loaded.configuration.exports);
  } catch (error) {
    problems.push(`--export: ${inWords(error)}`);
  }
  if (problems.length > 0) return refuse(problems);
  for (const warning of loaded.warnings) process.stderr.write(`${NAME}: warning: ${warning}\n`);
  return print(showConfiguration(loaded));
}

/** @param {Configuration} configuration @param {import("pino").Logger} log */
async function serve(configuration, log) {
  const stop = signalled();
  // The parts take their time to load, and are of no use for --help.
  const { start } = await import("./main.js");
  let collector;
  try {
    const starting = start(configuration, log);
    // What is under way then ends with the process.
    starting.catch(() => {});
    collector = await Promise.race([starting, stop]);
  } catch (error) {
    process.stderr.write(`${NAME}: ${inWords(error)}\n`);
    return isOptions(error) ? 2 : 1;
  }
  if (typeof collector === "string") return 0;
  for (const listener of collector.listeners) announce(listener, configuration, log);

  const signal = await stop;
  const { drainMillis } = configuration.limits;
  log.info({ signal }, `stopping, when what is under way has ended, or in ${drainMillis / 1000} s`);
  const isClean = await Promise.race([collector.close().then(() => true), new Promise((resolve) => setTimeout(resolve, drainMillis, false).unref())]);
  if (isClean) log.info("stopped");
  else log.error("stopped with requests under way");
  return isClean ? 0 : 1;
}

/** The first signal; the second ends the process at once. @returns {Promise<string>} */
function signalled() {
  return new Promise((resolve) => {
    /** @type {string | undefined} */
    let first;
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (first !== undefined) process.exit(signal === "SIGINT" ? 130 : 143);
        first = signal;
        resolve(signal);
      });
    }
  });
}

/** @param {Listener} listener @param {Configuration} configuration @param {import("pino").Logger} log */
function announce({ name, address }, { relays, exports }, log) {
  const url = clientUrl(address);
  const what = name.replace(/^relay /, "");
  const relay = relays.find(({ backend, listen }) => what === backend && listen.host === address.host && [0, address.port].includes(listen.port));
  const to = relay ? [relay.upstream.href.replace(/\/$/, "")] : what === "receive" ? exports.map(({ url }) => new URL(url).origin) : [];
  const set = TO_SET[what]?.(url);
  log.info({ listener: name, address: showAddress(address), ...(to.length > 0 && { to: to.join(" ") }) }, set ? `listens; set ${set}` : "listens");
}

/** Whether what was given is at fault: an option of an exporter, or a tokenizer. @param {unknown} error */
function isOptions(error) {
  return error instanceof Token2TextError || (error instanceof Error && error.cause instanceof Token2TextError);
}

/** @param {unknown} error */
function inWords(error) {
  const { code, address, port, message } = /** @type {NodeJS.ErrnoException & { address?: string, port?: number }} */ (error);
  /** @type {Record<string, string>} */
  const reasons = {
    EADDRINUSE: "another program listens there",
    EACCES: "this user may not listen there",
    EADDRNOTAVAIL: "this machine has no such address",
  };
  const reason = reasons[code ?? ""];
  return reason && port !== undefined ? `cannot listen on ${showAddress({ host: String(address), port })}: ${reason}` : message;
}

/** @param {string[]} lines */
function refuse(lines) {
  for (const line of lines) process.stderr.write(`${NAME}: ${line}\n`);
  return 2;
}

/** @param {string} text */
function print(text) {
  process.stdout.write(text);
  return 0;
}

function version() {
  return JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
}
