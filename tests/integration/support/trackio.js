/** A real Trackio server of its own: started, ended, asked by Trackio's own package. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SCRIPT = fileURLToPath(new URL("../ask_trackio.py", import.meta.url));
const START_MILLIS = 30_000;

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

/** @typedef {Awaited<ReturnType<typeof startTrackio>>} Trackio */

/**
 * @param {{ frontend?: string, env?: Record<string, string> }} [options] `frontend`: a folder that is served in place of the dashboard.
 */
export async function startTrackio({ frontend, env = {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "token2text-trackio-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const writeToken = "token-of-the-tests";
  const environment = {
    ...process.env,
    TRACKIO_DIR: join(folder, "data"),
    HF_HOME: join(folder, "hf"),
    HF_HUB_OFFLINE: "1",
    TRACKIO_WRITE_TOKEN: writeToken,
    GRADIO_SERVER_PORT: String(port),
    GRADIO_NUM_PORTS: "1",
    // It opens a browser.
    BROWSER: "true",
    ...env,
  };
  /** @type {import("node:child_process").ChildProcess | undefined} */
  let server;
  /** @type {ReturnType<typeof startClient> | undefined} */
  let client;

  const up = async () => {
    const args = ["show", "--host", "127.0.0.1", ...(frontend ? ["--frontend", frontend] : [])];
    const child = spawn(join(dirname(python()), "trackio"), args, { env: environment, stdio: ["ignore", "pipe", "pipe"] });
    server = child;
    let said = "";
    child.stdout.on("data", (chunk) => (said += chunk));
    child.stderr.on("data", (chunk) => (said += chunk));
    for (let waited = 0; waited < START_MILLIS; waited += 50) {
      if (child.exitCode !== null) break;
      const answer = await fetch(`${url}/version`).catch(() => undefined);
      if (answer?.ok) return;
      await sleep(50);
    }
    throw new Error(`Trackio does not answer at ${url}: ${said}`);
  };
  const down = async () => {
    const child = server;
    server = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGTERM");
    await ended;
  };

  await up();
  return {
    url,
    writeToken,
    up,
    /** Ends the server; what it has stored stays. */
    down,
    /**
     * Asks `ask_trackio.py`.
     *
     * @param {string} command
     * @param {unknown} [input] Bytes are its JSON already.
     */
    async ask(command, input = null) {
      const text = input instanceof Uint8Array ? new TextDecoder().decode(input) : JSON.stringify(input);
      client ??= startClient({ ...environment, SERVER_URL: url });
      return client.ask(`${JSON.stringify({ command, input: text })}\n`);
    },
    async stop() {
      client?.stop();
      await down();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Trackio's package in a process of its own, which answers line by line. @param {NodeJS.ProcessEnv} env */
function startClient(env) {
  const child = spawn(python(), [SCRIPT], { env, stdio: ["pipe", "pipe", "pipe"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let said = "";
  child.stderr.on("data", (chunk) => (said += chunk));
  return {
    /** @param {string} question */
    async ask(question) {
      child.stdin.write(question);
      const { value, done } = await lines.next();
      if (done) throw new Error(`ask_trackio.py: ${said}`);
      return JSON.parse(value);
    },
    stop: () => child.kill(),
  };
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
      probe.close(() => resolve(port));
    });
  });
}
