/** What the scripts of this folder share. */
import { spawnSync } from "node:child_process";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Our own tools come before those of the machine: they have the exact versions. */
const PATH = [join(ROOT, ".tools/bin"), process.env.PATH].join(delimiter);

/**
 * Runs a program in the project's folder; a failure ends this script.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {import("node:child_process").SpawnSyncOptions} [options]
 */
export function run(program, args, options = {}) {
  const result = spawnSync(program, args, { cwd: ROOT, stdio: "inherit", ...options, env: { ...process.env, PATH, ...options.env } });
  if (result.error) fail(`${program} could not be started: ${result.error.message}`);
  if (result.status !== 0) fail(`${program} ${args.join(" ")} failed`);
  return result;
}

/** @param {string} text */
export function step(text) {
  console.log(`== ${text}`);
}

/** @param {string} message @returns {never} */
export function fail(message) {
  console.error(message);
  process.exit(1);
}
