/** A Python program that answers questions one after the other. */
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** The interpreter of an environment that `scripts/venv.sh` makes. @param {string} name */
export function interpreter(name) {
  const { stdout, stderr, status } = spawnSync(join(ROOT, "scripts/venv.sh"), [name], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${name} could not be installed: ${stderr}`);
  return join(ROOT, stdout.trim());
}

export class PythonProgram {
  #child;
  #lines;
  #name;
  #errors = "";

  /**
   * @param {string} python
   * @param {string} name Of the script beside this file.
   * @param {string[]} args
   * @param {Record<string, string>} [env]
   */
  constructor(python, name, args, env) {
    this.#name = name;
    const script = fileURLToPath(new URL(name, import.meta.url));
    this.#child = spawn(python, [script, ...args], { env: { ...process.env, ...env }, stdio: "pipe" });
    this.#child.stderr.on("data", (chunk) => (this.#errors += chunk));
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  /** @param {string} question A function of the script. @param {...unknown} args @returns {Promise<any>} */
  async ask(question, ...args) {
    this.#child.stdin.write(`${JSON.stringify([question, args])}\n`);
    const { value } = await this.#lines.next();
    if (value === undefined) throw new Error(`${this.#name} ended\n${this.#errors}`);
    const { result, error } = JSON.parse(value);
    if (error !== undefined) throw new Error(error);
    return result;
  }

  close() {
    this.#child.stdin.end();
  }
}
