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

/**
 * What npm's provenance wants in a manifest: the repository that builds, which GitHub's runners name. Elsewhere nothing.
 *
 * @returns {{ repository?: { type: string, url: string } }}
 */
export function repository() {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = process.env;
  if (!GITHUB_SERVER_URL || !GITHUB_REPOSITORY) return {};
  return { repository: { type: "git", url: `git+${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}.git` } };
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
 * Puts a table into a README between the marks that have its name; with `--check` fails if another stands there.
 *
 * @param {string} name
 * @param {string} table
 * @param {{ readme?: string, script?: string }} [options] The file, from the root; the script, if it has not the name of the table.
 */
export function writeTable(name, table, { readme: path = "README.md", script = name } = {}) {
  const file = join(ROOT, path);
  const start = `<!-- ${name}: written by scripts/${script}.js -->\n`;
  const end = `<!-- /${name} -->\n`;
  const readme = readFileSync(file, "utf8");
  const [before, rest] = readme.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) fail(`${path} has no place for the table of ${name}`);
  const written = `${before}${start}${table}${end}${after}`;
  if (!process.argv.includes("--check")) writeFileSync(file, written);
  else if (written !== readme) fail(`${path} has another table of ${name}: run \`node scripts/${script}.js\``);
}
