/** Unmodified clients, as programs of their own: what they log with, and what they see of what is stored. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { interpreter } from "../../integration/support/python.js";
import { weaveSettings } from "../../integration/support/weave.js";
import { tokenizerFile } from "./collector.js";

const SCRIPTS = fileURLToPath(new URL("./python/", import.meta.url));
const JAVASCRIPT = fileURLToPath(new URL("./javascript/", import.meta.url));
const QUIET = { MLFLOW_DISABLE_TELEMETRY: "true", DO_NOT_TRACK: "true", HF_HUB_OFFLINE: "1", WANDB_ERROR_REPORTING: "false" };

/**
 * What a trainer sets to log to a server, or to the relay in front of it.
 *
 * @type {Record<string, (url: string) => Record<string, string>>}
 */
export const SETTINGS = {
  mlflow: (url) => ({ MLFLOW_TRACKING_URI: url }),
  trackio: (url) => ({ TRACKIO_SERVER_URL: url, TRACKIO_WRITE_TOKEN: "token-of-the-tests" }),
  weave: weaveSettings,
  otlp: (url) => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }),
};

/**
 * @typedef {object} Ended
 * @property {number} status
 * @property {string} errors What it said on its standard error.
 * @property {any} result The last line of its output, parsed; undefined if it has none.
 */

/**
 * Runs a script of `python/` with the pinned clients.
 *
 * @param {string} script
 * @param {string[]} args
 * @param {Record<string, string>} env
 * @returns {Promise<Ended>}
 */
export async function python(script, args, env) {
  const folder = mkdtempSync(join(tmpdir(), "token2text-client-"));
  try {
    const child = spawn(interpreter("collector"), [join(SCRIPTS, script), ...args], {
      cwd: folder,
      // Nothing of the machine's own settings, and nothing left on it.
      env: { PATH: process.env.PATH, HOME: folder, TRACKIO_DIR: folder, HF_HOME: folder, ...QUIET, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
    const line = output.trimEnd().split("\n").at(-1);
    return { status: status ?? 1, errors, result: line ? JSON.parse(line) : undefined };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/**
 * Runs a script of `javascript/`; one that fails is an error.
 *
 * @param {string} script
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
export async function javascript(script, args, env) {
  const child = spawn(process.execPath, [join(JAVASCRIPT, script), ...args], { env: { PATH: process.env.PATH, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  if (status !== 0) throw new Error(`${script} failed\n${output}${errors}`);
}

/**
 * Calls a function of `clients.py`; a program that fails is an error.
 *
 * @param {Record<string, string>} env
 * @param {string} name
 * @param {...unknown} args
 */
export async function client(env, name, ...args) {
  const { status, errors, result } = await python("clients.py", [name, JSON.stringify(args)], env);
  if (status !== 0) throw new Error(`${name} failed\n${errors}`);
  return result;
}

/**
 * @typedef {object} Rollouts
 * @property {{ op: string, texts: string[] }[]} calls Prompt and response of every call, by Python's `tokenizers`; of a call that has failed
 *   the prompt.
 * @property {string[]} failures
 */

/**
 * Rollouts of verl, traced by verl's own code.
 *
 * @param {"mlflow" | "trackio" | "weave"} backend
 * @param {string} url
 * @param {string} project
 * @param {...string} options Of `verl_rollouts.py`.
 * @returns {Promise<Rollouts>}
 */
export async function verl(backend, url, project, ...options) {
  const { status, errors, result } = await python("verl_rollouts.py", [backend, project, tokenizerFile, ...options], SETTINGS[backend](url));
  if (status !== 0) throw new Error(`verl failed\n${errors}`);
  return result;
}
