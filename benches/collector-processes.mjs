/** The processes of `collector.mjs`: each is started by this one, and ends with it. */
import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { fileURLToPath } from "node:url";

/** @typedef {import("node:child_process").ChildProcess} Child */

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
const COMMAND = `${ROOT}collector/bin/token2text-collector.js`;
const TOKENIZER = `${ROOT}.cache/tokenizers/qwen3/tokenizer.json`;

/** @type {Child[]} */
const children = [];
process.on("exit", () => children.forEach((child) => child.kill("SIGKILL")));

/** @param {string} file */
export function start(file) {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { stdio: "inherit" });
  children.push(child);
  // Or this would wait for its answer.
  child.on("exit", () => process.exit(1));
  return child;
}

/** @param {Child} child @returns {Promise<any>} */
export async function answerOf(child) {
  const [answer] = await once(child, "message");
  return answer;
}

/** A collector with these options, on a free port in the place of PORT. @param {string[]} args */
export async function collector(args) {
  const own = await freePort();
  const options = args.map((arg) => arg.replace("PORT", String(own)));
  return serving(own, process.execPath, [COMMAND, "--tokenizer", TOKENIZER, "--log-level", "error", ...options]);
}

/** Starts a program and waits until it answers. @param {number} port @param {string} program @param {string[]} args */
export async function serving(port, program, args) {
  const child = spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  for (;;) {
    if (child.exitCode !== null) throw new Error(`${program} ended`);
    try {
      await fetch(url);
      return { url, child };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** What a process has used up to now, of all its threads; of Linux. @param {Child} child */
export function cpuSeconds({ pid }) {
  const [user, system] = readFileSync(`/proc/${pid}/stat`, "latin1").replace(/^.*\) /, "").split(" ").slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}

export async function freePort() {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (probe.address());
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
