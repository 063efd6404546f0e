/** `token2text trackio enrich`: text for the traces that a Trackio server has stored. */
import { Token2TextError } from "../node.js";
import { TrackioExporter, TrackioReader, enrichStored, withRetry } from "../exporters/trackio.js";
import { canonicalName } from "../exporters/trackio-names.js";
import { ENRICHING, NO_MESSAGES, UsageError, parseOptions, wholeNumber } from "./args.js";
import * as help from "./help.js";
import { Progress } from "./progress.js";
import { prepareEnrich } from "./setup.js";
import { Summary, count } from "./summary.js";

/** @typedef {import("./args.js").Settings} Settings */
/** @typedef {import("../exporters/trackio.js").TrackioRun} TrackioRun */
/** @typedef {import("../exporters/trackio.js").EnrichedPage} EnrichedPage */

const OPTIONS = {
  ...ENRICHING,
  ...NO_MESSAGES,
  server: { type: "string" },
  project: { type: "string" },
  run: { type: "string", multiple: true },
  "write-token": { type: "string" },
  "hf-token": { type: "string" },
  "dry-run": { type: "boolean" },
  revision: { type: "string" },
};

/**
 * @param {string[]} args
 * @returns {Promise<number>} The exit status.
 */
export async function trackio([command, ...args]) {
  if (command === "--help" || command === "-h") return printHelp();
  if (command !== "enrich") throw new UsageError("a command is missing: `token2text trackio enrich`; `token2text trackio --help` tells more");
  const { settings, values } = parseOptions(/** @type {import("./args.js").OptionTable} */ (OPTIONS), args);
  if (settings.help) return printHelp();
  return enrich(settings, target(settings, values));
}

function printHelp() {
  process.stdout.write(help.TRACKIO);
  return 0;
}

/** What is enriched, and how it is reached. @param {Settings} settings @param {Record<string, any>} values */
function target({ files }, values) {
  for (const name of ["server", "project"]) if (!values[name]) throw new UsageError(`trackio enrich needs --${name}`);
  if (files[0] !== "-" || files.length > 1) throw new UsageError(`trackio enrich reads from the server; \`${files[0]}\` is nothing to it`);
  const writeToken = values["write-token"] ?? process.env.TRACKIO_WRITE_TOKEN;
  // The variable is for everything of Hugging Face, and other servers must not see it.
  const hfToken = values["hf-token"] ?? (isSpace(values.server) ? process.env.HF_TOKEN : undefined);
  const server = { url: values.server, writeToken, hfToken };
  const revision = wholeNumber("revision", values.revision);
  return { server, project: String(values.project), runs: /** @type {string[]} */ (values.run ?? []), revision, isDry: values["dry-run"] ?? false };
}

/** @param {string} server */
function isSpace(server) {
  return URL.canParse(server) && new URL(server).protocol === "https:" && new URL(server).hostname.endsWith(".hf.space");
}

/** @param {Settings} settings @param {ReturnType<typeof target>} target */
async function enrich(settings, { server, project, runs: wanted, revision, isDry }) {
  const change = await prepareEnrich({ ...settings, format: "trackio" });
  const enricher = { enrichBody: (/** @type {Uint8Array} */ body) => withReport(change(body, "")) };
  const reader = new TrackioReader({ ...server, retry: {} });
  const runs = await findRuns(new TrackioReader(server), server.url, project, wanted);
  const exporter = new TrackioExporter(server);
  const write = isDry ? undefined : withRetry((/** @type {Uint8Array} */ body) => exporter.export(body));
  if (write) succeeded(await exporter.check());
  const told = new Told(settings.report, isDry);
  try {
    for (const { id: runId, name } of runs) {
      const { total } = await reader.traceSteps({ project, runId });
      told.startRun(name, total);
      if (total === 0) continue;
      for await (const page of enrichStored(reader, enricher, { project, runId, revision }, write)) {
        if (page.result.status === "retryable") throw page.result.error;
        told.add(name, page);
      }
    }
  } finally {
    told.end();
  }
  return told.refused > 0 ? 2 : settings.strict && told.incomplete ? 1 : 0;
}

/** @param {ReturnType<import("./run.js").Job["change"]>} changed */
function withReport(changed) {
  return /** @type {Required<typeof changed>} */ (changed);
}

/** @param {import("../exporters/trackio.js").TrackioResult} result */
function succeeded(result) {
  if (result.status !== "success") throw result.error;
}

/**
 * The runs that are asked for; all by default.
 *
 * @param {TrackioReader} reader
 * @param {string} server
 * @param {string} project
 * @param {string[]} wanted Names or ids.
 */
async function findRuns(reader, server, project, wanted) {
  const projects = await reader.projects().catch((error) => {
    if (!(error instanceof Token2TextError)) throw error;
    throw new UsageError(`no Trackio server answers at ${server}: ${error.message}`);
  });
  if (!projects.includes(canonicalName(project))) {
    throw new UsageError(`there is no project \`${project}\` on ${server}; it has ${list(projects)}`);
  }
  const runs = await reader.runs(project);
  const missing = wanted.find((name) => !runs.some((run) => isCalled(run, name)));
  if (missing !== undefined) {
    throw new UsageError(`the project ${project} has no run \`${missing}\`; it has ${list(runs.map(({ name }) => name))}`);
  }
  return wanted.length === 0 ? runs : runs.filter((run) => wanted.some((name) => isCalled(run, name)));
}

/** @param {TrackioRun} run @param {string} name */
function isCalled(run, name) {
  return run.name === name || run.id === name;
}

/** @param {string[]} names */
function list(names) {
  return names.length > 0 ? names.join(", ") : "none";
}

/** Tells of the work: while it is done, and at the end. */
class Told {
  #counts = { traces: 0, written: 0, present: 0, unchanged: 0 };
  #runs = 0;
  refused = 0;
  #firstRefusal = "";
  #summary = new Summary();
  #progress = new Progress(true);
  #isTold = false;
  #kind;
  #done;

  /** @param {Settings["report"]} kind @param {boolean} isDry */
  constructor(kind, isDry) {
    this.#kind = kind;
    this.#done = isDry ? "would be written" : "written";
    // Ctrl-C too: what was written is written.
    process.once("exit", () => this.end());
  }

  get incomplete() {
    return this.#summary.incomplete;
  }

  /** @param {string} name @param {number} traces */
  startRun(name, traces) {
    this.#runs++;
    this.#progress.startRecords(name, traces);
  }

  /** @param {string} run @param {EnrichedPage} page */
  add(run, page) {
    this.#progress.addRecords(page.traces);
    this.#counts.traces += page.traces - page.versions;
    this.#counts.written += page.written;
    this.#counts.present += page.present;
    this.#counts.unchanged += page.unchanged;
    for (const { id, report, error } of page.looked) {
      if (report) this.#summary.add(report, `${run} ${id}`);
      if (error) this.#summary.addBroken(error.code, error.message, `${run} ${id}`);
      if (this.#kind === "json") this.#writeJson({ run, id, ...(report ?? { error: { code: error?.code, message: error?.message } }) });
    }
    if (page.result.status !== "failure") return;
    this.refused += page.result.rejected?.length ?? page.looked.length - page.unchanged;
    this.#firstRefusal ||= page.result.error.message;
  }

  /** Says what was done, once. */
  end() {
    this.#progress.clear();
    if (this.#isTold) return;
    this.#isTold = true;
    if (this.#kind === "summary") process.stderr.write(this.#summary.toString(this.#done) + this.#versions());
    if (this.refused > 0) process.stderr.write(`token2text: ${count(this.refused, "version")} not stored: ${this.#firstRefusal}\n`);
  }

  #versions() {
    const { traces, written, present, unchanged } = this.#counts;
    const lines = [`${count(this.#runs, "run")}, ${count(traces, "trace")}: ${count(written, "version")} ${this.#done}`];
    if (present > 0) lines.push(`${count(present, "version")} already there`);
    if (unchanged > 0) lines.push(`${count(unchanged, "trace")} without text to add`);
    return lines.map((line) => `${line}\n`).join("");
  }

  /** @param {object} value */
  #writeJson(value) {
    this.#progress.clear();
    process.stderr.write(`${JSON.stringify(value)}\n`);
  }
}
