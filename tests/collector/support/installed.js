/** The package as users install it: both tarballs in a folder of their own. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Packs and installs; the folder goes with this process. @returns {string} The folder. */
export function installedProject() {
  const folder = mkdtempSync(join(tmpdir(), "token2text-installed-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  run("npm", ["pack", "--silent", "--pack-destination", folder, join(ROOT, "pkg")], ROOT);
  const collector = run("node", ["scripts/pack-collector.js"], ROOT).trim();
  const core = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
  // What is compiled takes a minute, and has been compiled for the checkout: the same version, on the same machine.
  run("npm", ["install", "--silent", "--no-audit", "--no-fund", "--ignore-scripts", ...core.map((name) => `./${name}`), collector], folder);
  const [theirs, ours] = [folder, join(ROOT, "collector")].map((place) => join(place, "node_modules/better-sqlite3"));
  const [wanted, compiled] = [theirs, ours].map((place) => JSON.parse(readFileSync(join(place, "package.json"), "utf8")).version);
  if (wanted !== compiled) throw new Error(`better-sqlite3 ${wanted} is installed, but ${compiled} is compiled in collector/`);
  cpSync(join(ours, "build/Release/better_sqlite3.node"), join(theirs, "build/Release/better_sqlite3.node"));
  return folder;
}

/**
 * Runs a program that must succeed.
 *
 * @param {string} program
 * @param {string[]} args
 * @param {string} cwd
 */
export function run(program, args, cwd) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed\n${stdout}${stderr}${error ?? ""}`);
  return stdout;
}
