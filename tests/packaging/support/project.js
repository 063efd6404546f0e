/** Fresh projects with the packed package installed, and programs run in them. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after } from "node:test";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
export const TOOLS = fileURLToPath(new URL("../node_modules", import.meta.url));
const SUITE = join(ROOT, "tests/behaviour/suite.js");
const LONGEST_MS = 120_000;

/** Where `run.js` packed the package and installed it once. */
export const INSTALLED = process.env.TOKEN2TEXT_INSTALLED ?? "";
assert.ok(INSTALLED, "start these tests with `node tests/packaging/run.js [words of file names]`");

const { dependencies } = JSON.parse(readFileSync(join(INSTALLED, "package.json"), "utf8"));
/** The packed package; a project's package.json names it. */
export const TARBALL = join(INSTALLED, dependencies.token2text.replace(/^file:/, ""));

// A program of the project itself comes first, then those of tests/packaging.
const PATH = ["node_modules/.bin", join(TOOLS, ".bin"), process.env.PATH].join(delimiter);
const ENV = { ...process.env, PATH, NO_COLOR: "1", FORCE_COLOR: "0", DENO_NO_UPDATE_CHECK: "1", NODE_OPTIONS: "", NODE_TEST_CONTEXT: "" };

/** @typedef {{ folder: string, write: (files: Record<string, string>) => void }} Project */

/** A project in which `npm install <tarball>` was run. @returns {Project} */
export function freshProject() {
  const project = emptyProject();
  cpSync(INSTALLED, project.folder, { recursive: true, verbatimSymlinks: true });
  return project;
}

/** A folder that is removed when the tests of the file are done. @returns {Project} */
export function emptyProject() {
  const folder = mkdtempSync(join(tmpdir(), "token2text-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  /** @param {Record<string, string>} files */
  const write = (files) => {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  };
  return { folder, write };
}

/** The same with these files and the behaviours. @param {Record<string, string>} files */
export function projectWith(files) {
  const project = freshProject();
  cpSync(SUITE, join(project.folder, "suite.js"));
  project.write(files);
  return project;
}

/** Makes a tool of tests/packaging one of the project, as `npm install` would. @param {Project} project @param {string} name */
export function linkTool({ folder }, name) {
  const modules = join(folder, "node_modules");
  symlinkSync(join(TOOLS, name), join(modules, name));
  const { bin } = JSON.parse(readFileSync(join(TOOLS, name, "package.json"), "utf8"));
  const commands = Object.entries(typeof bin === "string" ? { [name]: bin } : (bin ?? {}));
  for (const [command, path] of commands) symlinkSync(join(TOOLS, name, path), join(modules, ".bin", command));
}

/**
 * Runs a program to its end and gives what it printed; fails if the program does.
 *
 * @param {Project} project
 * @param {string} program
 * @param {string[]} args
 */
export async function run({ folder }, program, args) {
  const child = spawn(program, args, { cwd: folder, env: ENV, stdio: ["ignore", "pipe", "pipe"], timeout: LONGEST_MS });
  let stdout = "";
  let all = "";
  child.stdout.setEncoding("utf8").on("data", (text) => ((stdout += text), (all += text)));
  child.stderr.setEncoding("utf8").on("data", (text) => (all += text));
  const status = await new Promise((resolve, reject) => child.on("error", reject).on("close", (code, signal) => resolve(code ?? signal)));
  assert.equal(status, 0, `${program} ${args.join(" ")}: ${status}\n${all}`);
  return stdout;
}

/**
 * Starts a program that runs until `stop()`, and gives the address that `find` sees in what it prints.
 *
 * @param {Project} project
 * @param {string} program
 * @param {string[]} args
 * @param {(printed: string) => string | undefined} find
 */
export async function start({ folder }, program, args, find) {
  // Its own group: tools start processes of their own, which have to end too.
  const child = spawn(program, args, { cwd: folder, env: ENV, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const ended = new Promise((resolve) => child.on("close", resolve));
  const stop = async () => {
    if (child.exitCode === null && child.pid) process.kill(-child.pid, "SIGTERM");
    await ended;
  };
  let printed = "";
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  try {
    const url = await new Promise((/** @type {(url: string) => void} */ resolve, reject) => {
      const refuse = (/** @type {string} */ what) => reject(new Error(`${program} ${what}:\n${printed}`));
      const look = (/** @type {Buffer | string} */ chunk) => {
        printed += chunk;
        const found = find(printed);
        if (found) resolve(found);
      };
      timer = setTimeout(() => refuse("gave no address"), LONGEST_MS);
      child.on("error", reject).on("close", () => refuse("ended"));
      child.stdout.on("data", look);
      child.stderr.on("data", look);
      look("");
    });
    return { url, stop };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
