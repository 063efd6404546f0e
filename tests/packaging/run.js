/**
 * Packs the package, installs it once, and runs the tests of this folder.
 *
 *   node tests/packaging/run.js                 all of them; starts README's table anew
 *   node tests/packaging/run.js vite webpack    those with one of these words in the name of their file
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { runStrictly } from "../strictly.js";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = join(HERE, "../..");
const CONCURRENCY = 2;

const words = process.argv.slice(2);
if (words.length === 0) rmSync(join(ROOT, "target/compatibility"), { recursive: true, force: true });

const installed = mkdtempSync(join(tmpdir(), "token2text-"));
try {
  install(installed);
  process.env.TOKEN2TEXT_INSTALLED = installed;
  process.exitCode = (await runStrictly(HERE, { words, concurrency: CONCURRENCY })) ? 0 : 1;
} finally {
  rmSync(installed, { recursive: true });
}

/** A project as a user makes it: `npm install` of the packed package. @param {string} folder */
function install(folder) {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const tarball = npm("pack", "--silent", join(ROOT, "pkg")).trim();
  npm("install", "--silent", `./${tarball}`);

  /** @param {string[]} args */
  function npm(...args) {
    const { status, stdout, stderr } = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
    if (status !== 0) throw new Error(`npm ${args.join(" ")} failed\n${stdout}${stderr}`);
    return stdout;
  }
}
