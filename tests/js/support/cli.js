import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const CLI = fileURLToPath(new URL("../../../pkg/bin/token2text.js", import.meta.url));

/**
 * Runs the command line.
 *
 * @param {string[]} args
 * @param {{ input?: string | Uint8Array, cwd?: string, env?: Record<string, string> }} [options] `env`: besides that of this process.
 * @returns {Promise<{ status: number | null, stdout: Buffer, stderr: string }>}
 */
export function token2text(args, { input = "", cwd, env } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CLI, ...args], { cwd, env: { ...process.env, ...env } });
    /** @type {Buffer[]} */
    const out = [];
    let stderr = "";
    child.stdout.on("data", (chunk) => out.push(chunk));
    child.stderr.setEncoding("utf8").on("data", (chunk) => (stderr += chunk));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, stdout: Buffer.concat(out), stderr }));
    child.stdin.on("error", () => {}); // it may end before it has read everything
    child.stdin.end(input);
  });
}
