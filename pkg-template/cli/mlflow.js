/** `token2text mlflow enrich`: text for the traces that an MLflow server has stored. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Token2TextError } from "../node.js";
import { MlflowReader, pendingFilter } from "../exporters/mlflow.js";
import { ENRICHING, NO_MESSAGES, UsageError, parseOptions, wholeNumber } from "./args.js";
import * as help from "./help.js";
import { Progress } from "./progress.js";
import { prepareEnrich } from "./setup.js";
import { Summary, count } from "./summary.js";

/** @typedef {import("./args.js").Settings} Settings */
/** @typedef {import("../exporters/mlflow-write-back.js").Outcome} Outcome */
/** @typedef {import("../exporters/mlflow-write-back.js").Mode} Mode */
/** @typedef {ReturnType<typeof readTarget>} Target */

const OPTIONS = {
  ...ENRICHING,
  ...NO_MESSAGES,
  "tracking-uri": { type: "string" },
  experiment: { type: "string" },
  filter: { type: "string" },
  limit: { type: "string" },
  mode: { type: "string" },
  "dry-run": { type: "boolean" },
  output: { type: "string", short: "o" },
};
const MODES = ["view", "annotate", "in-place"];
const MAX_SHOWN_CHARS = 100;

/**
 * @param {string[]} args
 * @returns {Promise<number>} The exit status.
 */
export async function mlflow([command, ...args]) {
  if (command === "--help" || command === "-h") return printHelp();
  if (command !== "enrich") throw new UsageError("a command is missing: `token2text mlflow enrich`; `token2text mlflow --help` tells more");
  const { settings, values } = parseOptions(/** @type {import("./args.js").OptionTable} */ (OPTIONS), args);
  if (settings.help) return printHelp();
  return enrich(settings, readTarget(settings, values, process.env));
}

function printHelp() {
  process.stdout.write(help.MLFLOW);
  return 0;
}

/** What is enriched, and how. @param {Settings} settings @param {Record<string, any>} values @param {NodeJS.ProcessEnv} env */
function readTarget({ files }, values, env) {
  const url = values["tracking-uri"] ?? env.MLFLOW_TRACKING_URI;
  if (!url) throw new UsageError("mlflow enrich needs --tracking-uri, or the variable MLFLOW_TRACKING_URI");
  if (files[0] !== "-" || files.length > 1) throw new UsageError(`mlflow enrich reads from the server; \`${files[0]}\` is nothing to it`);
  const mode = values.mode ?? "view";
  if (!MODES.includes(mode)) throw new UsageError(`--mode must be ${MODES.join(", ")}, not \`${mode}\``);
  const experiment = values.experiment ?? env.MLFLOW_EXPERIMENT_NAME;
  const experimentId = experiment === undefined ? env.MLFLOW_EXPERIMENT_ID : undefined;
  if (!experiment && !experimentId) throw new UsageError("mlflow enrich needs --experiment, the name of the experiment");
  const login = { username: env.MLFLOW_TRACKING_USERNAME, password: env.MLFLOW_TRACKING_PASSWORD, token: env.MLFLOW_TRACKING_TOKEN };
  return {
    server: { url: String(url), experiment, experimentId, ...login },
    mode: /** @type {Mode} */ (mode),
    dryRun: /** @type {boolean} */ (values["dry-run"] ?? false),
    filter: [values.filter, pendingFilter(/** @type {Mode} */ (mode))].filter(Boolean).join(" AND "),
    limit: wholeNumber("limit", values.limit),
  };
}

/** @param {Settings} settings @param {Target} target */
async function enrich(settings, { server, mode, dryRun, filter, limit }) {
  const reader = inWords(() => new MlflowReader(server));
  const change = await prepareEnrich({ ...settings, format: "mlflow" });
  const enricher = { enrichBody: (/** @type {Uint8Array} */ body) => /** @type {any} */ (change(body, "")) };
  if (settings.output !== undefined) await mkdir(settings.output, { recursive: true });
  const told = new Told(settings, reader.address, mode !== "view" && !dryRun);
  try {
    for await (const { trace_id: id } of reader.search({ filter, limit })) {
      const outcome = await enrichOne(() => reader.enrich(id, enricher, { mode, dryRun }), told, id);
      if (outcome?.body && outcome.texts && settings.output !== undefined) await writeFile(join(settings.output, fileName(id)), outcome.body);
    }
  } catch (error) {
    told.end();
    throw error;
  }
  told.end({ isWhole: true });
  return told.broken > 0 ? 2 : settings.strict && told.incomplete ? 1 : 0;
}

/** A trace that cannot be read or written does not stop the others; a server that is gone does. @param {() => Promise<Outcome>} work @param {Told} told @param {string} id */
async function enrichOne(work, told, id) {
  try {
    const outcome = await work();
    told.add(id, outcome);
    return outcome;
  } catch (error) {
    if (!(error instanceof Token2TextError) || ["unreachable", "internal"].includes(error.code)) throw error;
    told.addBroken(id, error);
    return undefined;
  }
}

/** Any text can be the id of a trace. @param {string} id */
function fileName(id) {
  return `${id.replace(/[^\w.-]/g, "_").replace(/^\./, "_")}.json`;
}

/** @template T @param {() => T} work */
function inWords(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Token2TextError) throw new UsageError(error.message);
    throw error;
  }
}

/** Tells of the work: while it is done, and at the end. */
class Told {
  #traces = 0;
  #changed = 0;
  #spans = 0;
  #previews = 0;
  /** Traces by the reason why they were left out. @type {Map<string, { count: number, detail: string }>} */
  #skipped = new Map();
  broken = 0;
  #isTold = false;
  #summary = new Summary();
  #progress;
  #settings;
  #writes;

  /** @param {Settings} settings @param {string} address @param {boolean} writes */
  constructor(settings, address, writes) {
    this.#settings = settings;
    this.#writes = writes;
    this.#progress = new Progress(true);
    this.#progress.startRecords(address);
    // Ctrl-C too: what was written is written.
    process.once("exit", () => this.end());
  }

  get incomplete() {
    return this.#summary.incomplete || this.#skipped.size > 0;
  }

  /** @param {string} id @param {Outcome} outcome */
  add(id, { status, reason, detail, spans, previews, texts, report }) {
    this.#count();
    if (report) this.#summary.add(report, id);
    if (reason) this.#leaveOut(reason, detail ?? "");
    if (status === "changed") this.#changed++;
    this.#spans += spans;
    this.#previews += previews ? 1 : 0;
    if (this.#settings.report === "json") this.#writeJson({ trace: id, status, reason, detail, spans, previews, report });
    if (texts) this.#print(`${id}\t${count(spans, "span")}\t${shown(texts.response ?? texts.prompt)}\n`);
  }

  /** @param {string} id @param {Token2TextError} error */
  addBroken(id, { code, message }) {
    this.#count();
    this.broken++;
    this.#leaveOut(code, `${id}: ${message}`);
    if (this.#settings.report === "json") this.#writeJson({ trace: id, error: { code, message } });
  }

  /** Says what was done, once; if it is cut short, only if something was. @param {{ isWhole: boolean }} how */
  end({ isWhole } = { isWhole: false }) {
    this.#progress.clear();
    if (this.#isTold || !(isWhole || this.#traces > 0)) return;
    this.#isTold = true;
    if (this.#settings.report === "summary") process.stderr.write(this.#traces === 0 ? this.#nothing() : this.#changes() + this.#summary.toString(this.#writes ? "written" : "found"));
  }

  #nothing() {
    return `no traces${this.#writes ? " that are not done" : ""}\n`;
  }

  /** @param {string} reason @param {string} example */
  #leaveOut(reason, example) {
    const { count, detail } = this.#skipped.get(reason) ?? { count: 0, detail: example };
    this.#skipped.set(reason, { count: count + 1, detail });
  }

  #count() {
    this.#traces++;
    this.#progress.addRecord();
  }

  #changes() {
    const would = this.#writes ? "" : "would be ";
    const lines = [`${count(this.#traces, "trace")}: ${this.#changed} ${would}changed, in ${count(this.#spans, "span")}; ${count(this.#previews, "preview")} ${would}set`];
    for (const [reason, { count, detail }] of this.#skipped) lines.push(`left out, ${reason}: ${count === 1 ? "" : `${count}, the first `}${detail}`);
    return lines.map((line) => `${line}\n`).join("");
  }

  /** @param {string} text */
  #print(text) {
    this.#progress.clear();
    process.stdout.write(text);
  }

  /** @param {object} value */
  #writeJson(value) {
    this.#progress.clear();
    process.stderr.write(`${JSON.stringify(value)}\n`);
  }
}

/** The beginning of a text, on one line. @param {string | undefined} text */
function shown(text = "") {
  const chars = [...text];
  return JSON.stringify(chars.slice(0, MAX_SHOWN_CHARS).join("")) + (chars.length > MAX_SHOWN_CHARS ? "..." : "");
}
