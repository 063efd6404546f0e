/** The command `token2text-collector`. */
import { readFileSync } from "node:fs";
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

/** Why an address cannot be listened on. @type {Record<string, string>} */
const REASONS = {
  EADDRINUSE: "another program listens there",
  EACCES: "this user may not listen there",
  EADDRNOTAVAIL: "this machine has no such address",
  ENOTFOUND: "there is no such name",
};

/**
 * Runs the command: serves until a signal asks it to stop.
 *
 * @param {string[]} args
 * @returns {Promise<number>} The exit status.
 */
export async function main(args) {
  process.stdout.on("error", (error) => process.exit(/** @type {NodeJS.ErrnoException} */ (error).code === "EPIPE" ? 0 : 2));
  const [name = "-", ...rest] = args;
  // Options begin with a dash, and every value follows its option.
  const status = name.startsWith("-") ? undefined : await runNamed(name, rest);
  if (status !== undefined) return status;
  const loaded = await load(args, process.env);
  const { configuration, problems, warnings, actions } = loaded;
  if (actions.help) return print(helpText(loaded.options));
  if (actions.version) return print(`${version()}\n`);
  if (problems.length > 0) return refuse([...problems, `\`${NAME} --help\` lists the options`]);
  if (actions.check) return check(loaded);
  const stop = signalled();
  const log = createLog(configuration.logLevel);
  for (const warning of warnings) log.warn(warning);
  // Node then writes the stack and ends the process with 1.
  process.on("uncaughtExceptionMonitor", (error) => log.fatal({ err: error }, "ended by a mistake of its own: please report it"));
  return serve(configuration, log, stop);
}

/** Runs one of the commands beside serving. @param {string} name @param {string[]} args @returns {Promise<number | undefined>} Nothing: there is none of the name. */
async function runNamed(name, args) {
  const [{ COMMANDS }, { runCommand }] = await Promise.all([import("./commands/commands.js"), import("./commands/command.js")]);
  const command = COMMANDS.find((one) => one.name === name);
  if (!command) return undefined;
  const { text, status } = runCommand(command, args);
  (status === 0 ? process.stdout : process.stderr).write(text);
  return status;
}

/** Does what a start does, but listens nowhere. @param {import("./configuration/load.js").Loaded} loaded */
async function check(loaded) {
  const { configuration, warnings } = loaded;
  const [{ createEnrichments }, { createExports }] = await Promise.all([import("./enrichment/pool.js"), import("./receive/exports.js")]);
  try {
    createExports(configuration.exports);
    if (configuration.store.file !== undefined) (await import("./store/open.js")).checkStore(configuration.store.file);
    await (await createEnrichments(configuration, createLog("silent"))).close();
  } catch (error) {
    return refuse([inWords(error)]);
  }
  for (const warning of warnings) process.stderr.write(`${NAME}: warning: ${warning}\n`);
  return print(showConfiguration(loaded));
}

/**
 * @param {Configuration} configuration
 * @param {import("pino").Logger} log
 * @param {Promise<string>} stop The signal that asks for it.
 */
async function serve(configuration, log, stop) {
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
    return mayPass(error) ? 1 : 2;
  }
  if (typeof collector === "string") return 0;
  for (const listener of collector.listeners) announce(listener, configuration, log);

  const signal = await stop;
  const { drainMillis } = configuration.limits;
  log.info({ signal }, `stopping, when what is under way has ended, or in ${drainMillis / 1000} s`);
  const late = new Promise((resolve) => setTimeout(resolve, drainMillis, false).unref());
  const isClean = await Promise.race([collector.close().then(() => true), late]);
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
function announce({ name, address }, { relays, exports, store }, log) {
  const url = clientUrl(address);
  const what = name.replace(/^relay /, "");
  const relay = relays.find(({ backend, listen }) => what === backend && listen.host === address.host && [0, address.port].includes(listen.port));
  const to = relay ? [relay.upstream.href.replace(/\/$/, "")] : what === "receive" ? exports.map(({ url }) => new URL(url).origin) : [];
  const set = TO_SET[what]?.(url);
  const kept = what === "receive" && store.file !== undefined && { store: store.file };
  log.info({ listener: name, address: showAddress(address), ...kept, ...(to.length > 0 && { to: to.join(" ") }) }, set ? `listens; set ${set}` : "listens");
}

/** Whether it may be well the next time: all else that keeps it from starting was given so. @param {unknown} error */
function mayPass(error) {
  return isAboutAddress(error) || /** @type {{ code?: string }} */ (error).code === "store_locked";
}

/** @param {unknown} error */
function isAboutAddress(error) {
  return ["listen", "getaddrinfo"].includes(/** @type {NodeJS.ErrnoException} */ (error).syscall ?? "");
}

/** @param {unknown} error */
function inWords(error) {
  const { code = "", address, port, hostname, message } = /** @type {NodeJS.ErrnoException & Record<"address" | "hostname", string> & { port: number }} */ (error);
  const place = address === undefined ? hostname : showAddress({ host: address, port });
  return isAboutAddress(error) && code in REASONS ? `cannot listen on ${place}: ${REASONS[code]}` : message;
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
