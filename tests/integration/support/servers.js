/** Real servers on free ports of this machine, which end with the tests whatever happens. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
/** Programs of the environment that `scripts/venv.sh integration` makes. */
export const BIN = join(ROOT, ".cache/venv-integration/bin");
const START_MILLIS = 180_000;
const STOP_MILLIS = 10_000;
/** Again, for what has just been killed may still write. */
const REMOVED = { recursive: true, force: true, maxRetries: 5 };

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
/** @type {Set<string>} */
const folders = new Set();
process.on("exit", () => {
  for (const child of running) kill(child, "SIGKILL");
  for (const folder of folders) rmSync(folder, REMOVED);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => process.exit(1));

/**
 * @typedef {object} ServerOptions
 * @property {string} name
 * @property {(port: number) => string[]} command Program and arguments.
 * @property {Record<string, string>} [env]
 * @property {string} [health] Path that answers with success once the server is ready. Default: any answer says that it is.
 */

/** A program that serves HTTP, with a folder of its own that outlives a restart. */
export class Server {
  #options;
  /** @type {import("node:child_process").ChildProcess | undefined} */
  #child;
  #folder;
  port = 0;

  /** @param {ServerOptions} options */
  constructor(options) {
    this.#options = options;
    this.#folder = mkdtempSync(join(tmpdir(), `token2text-${options.name}-`));
    folders.add(this.#folder);
  }

  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Where the server keeps its files; also its working directory. */
  get folder() {
    return this.#folder;
  }

  /** Starts it, on the port of before if it was started already. */
  async start() {
    const { name, command, env, health } = this.#options;
    this.port ||= await freePort();
    mkdirSync(this.#folder, { recursive: true });
    const log = openSync(this.#logFile, "a");
    const [program, ...args] = command(this.port);
    // A group of its own: a server has workers, which end with it.
    const child = spawn(program, args, { cwd: this.#folder, env: { ...process.env, ...env }, stdio: ["ignore", log, log], detached: true });
    closeSync(log);
    running.add(child);
    this.#child = child;
    let failed = "";
    child.once("error", (error) => (failed = error.message));
    const deadline = Date.now() + START_MILLIS;
    while (!(await isReady(this.url, health))) {
      if (failed || child.exitCode !== null || Date.now() > deadline) {
        await this.stop();
        throw new Error(`${name} did not start ${failed}\n${this.log()}`);
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    return this;
  }

  /** Ends it; by `SIGKILL` as a crash would. @param {NodeJS.Signals} [signal] */
  async stop(signal = "SIGTERM") {
    const child = this.#child;
    this.#child = undefined;
    if (!child || !running.delete(child)) return;
    const ended = child.exitCode !== null || child.pid === undefined ? undefined : once(child, "exit");
    kill(child, signal);
    const timer = setTimeout(() => kill(child, "SIGKILL"), STOP_MILLIS);
    await ended;
    clearTimeout(timer);
    kill(child, "SIGKILL");
  }

  /** Ends it and takes its files away. */
  async dispose() {
    await this.stop();
    rmSync(this.#folder, REMOVED);
    folders.delete(this.#folder);
  }

  /** The end of what the server said. */
  log() {
    return readFileSync(this.#logFile, "utf8").split("\n").slice(-60).join("\n");
  }

  get #logFile() {
    return join(this.#folder, "server.log");
  }
}

/** The whole group. @param {import("node:child_process").ChildProcess} child @param {NodeJS.Signals} signal */
function kill(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // it has ended
  }
}

/** @param {string} url @param {string} [health] */
async function isReady(url, health) {
  try {
    const { ok } = await fetch(url + (health ?? ""), { signal: AbortSignal.timeout(2000) });
    return ok || health === undefined;
  } catch {
    return false;
  }
}

/** A port that nobody listens on. @returns {Promise<number>} */
export async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
  probe.close();
  await once(probe, "close");
  return port;
}
