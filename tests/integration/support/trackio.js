/** A server of Trackio, and Trackio's own package to look into its storage with. */
import { spawn, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Server } from "./servers.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SCRIPT = fileURLToPath(new URL("./ask_trackio.py", import.meta.url));
const WRITE_TOKEN = "token-of-the-tests";
/** No word to anybody, and no browser, which it opens. */
const QUIET = { HF_HUB_OFFLINE: "1", BROWSER: "true", GRADIO_NUM_PORTS: "1" };

/** @type {string | undefined} */
let interpreter;

/** Python with the pinned Trackio. */
function python() {
  if (interpreter) return interpreter;
  const { stdout, stderr, status } = spawnSync(join(ROOT, "scripts/venv.sh"), ["trackio"], { encoding: "utf8" });
  if (status !== 0) throw new Error(`Trackio could not be installed: ${stderr}`);
  interpreter = join(ROOT, stdout.trim());
  return interpreter;
}

export class Trackio {
  writeToken = WRITE_TOKEN;
  #server;
  /** @type {PythonClient | undefined} */
  #client;

  /** @param {{ frontend?: string, env?: Record<string, string> }} [options] `frontend`: a folder that is served as the dashboard. */
  constructor({ frontend, env = {} } = {}) {
    // It has no option for its port.
    const command = ["-c", 'GRADIO_SERVER_PORT=$1 exec "$0" show --host 127.0.0.1 "${@:2}"', join(dirname(python()), "trackio")];
    this.#server = new Server({
      name: "trackio",
      command: (port) => ["bash", ...command, String(port), ...(frontend ? ["--frontend", frontend] : [])],
      // Relative to its folder.
      env: { ...QUIET, TRACKIO_DIR: "data", HF_HOME: "hf", TRACKIO_WRITE_TOKEN: WRITE_TOKEN, ...env },
      health: "/version",
    });
  }

  get url() {
    return this.#server.url;
  }

  async start() {
    await this.#server.start();
    return this;
  }

  /** Ends it; what it has stored stays. */
  async stop() {
    await this.#server.stop();
  }

  async dispose() {
    this.#client?.close();
    await this.#server.dispose();
  }

  /**
   * Asks `ask_trackio.py`.
   *
   * @param {string} command
   * @param {unknown} [input] Bytes are its JSON already.
   */
  ask(command, input = null) {
    const env = { ...QUIET, TRACKIO_DIR: join(this.#server.folder, "data"), HF_HOME: join(this.#server.folder, "hf") };
    this.#client ??= new PythonClient({ ...env, TRACKIO_WRITE_TOKEN: WRITE_TOKEN, SERVER_URL: this.url });
    return this.#client.ask(command, input instanceof Uint8Array ? new TextDecoder().decode(input) : JSON.stringify(input));
  }
}

/** A process that answers line by line. */
class PythonClient {
  #child;
  #lines;
  #errors = "";

  /** @param {Record<string, string>} env */
  constructor(env) {
    this.#child = spawn(python(), [SCRIPT], { env: { ...process.env, ...env }, stdio: "pipe" });
    this.#child.stderr.on("data", (chunk) => (this.#errors += chunk));
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  /** @param {string} command @param {string} input @returns {Promise<any>} */
  async ask(command, input) {
    this.#child.stdin.write(`${JSON.stringify({ command, input })}\n`);
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error(`ask_trackio.py ended\n${this.#errors}`);
    return JSON.parse(value);
  }

  close() {
    this.#child.stdin.end();
  }
}
