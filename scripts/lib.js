/** What the scripts of this folder share. */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
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

/**
 * Puts a table into README.md between the marks that have its name; with `--check` fails if another stands there.
 *
 * @param {string} name Of the script too.
 * @param {string} table
 */
export function writeTable(name, table) {
  const file = join(ROOT, "README.md");
  const start = `<!-- ${name}: written by scripts/${name}.js -->\n`;
  const end = `<!-- /${name} -->\n`;
  const readme = readFileSync(file, "utf8");
  const [before, rest] = readme.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) fail(`README.md has no place for the table of ${name}`);
  const written = `${before}${start}${table}${end}${after}`;
  if (!process.argv.includes("--check")) writeFileSync(file, written);
  else if (written !== readme) fail(`README.md has another table of ${name}: run \`node scripts/${name}.js\``);
}
