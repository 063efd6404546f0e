/** The command `token2text-collector` as a process of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { tokenizerFile } from "./collector.js";

export const BIN = fileURLToPath(new URL("../../../collector/bin/token2text-collector.js", import.meta.url));
/** Without what the machine that tests may have set. */
const ENV = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("TOKEN2TEXT_")));

/** @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

export class Command {
  #child;
  stdout = "";
  stderr = "";
  /** The exit code, or the signal that ended it. @type {Promise<number | string>} */
  ended;

  /** @param {string[]} args @param {{ env?: Record<string, string>, command?: string[] }} [options] `command`: another than the one of this folder. */
  constructor(args, { env = {}, command = [process.execPath, BIN] } = {}) {
    const [program, ...before] = command;
    const child = spawn(program, [...before, ...args], { env: { ...ENV, ...env }, stdio: ["ignore", "pipe", "pipe"] });
    running.add(child);
    this.#child = child;
    child.stdout.setEncoding("utf8").on("data", (text) => (this.stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text) => (this.stderr += text));
    this.ended = once(child, "close").then(([code, signal]) => {
      running.delete(child);
      return code ?? signal;
    });
  }

  get pid() {
    return this.#child.pid;
  }

  /** The lines of its log so far. @returns {Record<string, any>[]} */
  get log() {
    return this.stderr.split("\n").filter((line) => line.startsWith("{") && line.endsWith("}")).map((line) => JSON.parse(line));
  }

  /**
   * The first line of the log that is wanted.
   *
   * @param {(line: Record<string, any>) => boolean} isWanted
   */
  async said(isWanted) {
    const ended = this.ended.then((status) => {
      throw new Error(`it ended with ${status} before that\n${this.stderr}`);
    });
    ended.catch(() => {});
    for (;;) {
      const line = this.log.find(isWanted);
      if (line) return line;
      await Promise.race([once(/** @type {import("node:stream").Readable} */ (this.#child.stderr), "data"), ended]);
    }
  }

  /** The address of a listener, when it is ready. @param {string} listener */
  async url(listener) {
    const { address } = await this.said((line) => line.listener === listener && /^listens/.test(line.msg));
    return `http://${address}`;
  }

  /** @param {NodeJS.Signals} name */
  signal(name) {
    this.#child.kill(name);
  }
}

/**
 * A collector with Qwen3's tokenizer and a relay for OTLP on a free port.
 *
 * @param {string} upstream
 * @param {string[]} [more]
 * @param {Record<string, string>} [env]
 */
export function relaying(upstream, more = [], env) {
  return new Command(["--tokenizer", tokenizerFile, "--cache", "none", "--relay", `otlp=0,${upstream}`, ...more], { env });
}
