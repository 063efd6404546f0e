/**
 * Packs the package, installs it once, and runs the tests of this folder. Fails also where a test was skipped or a file has
 * none, for that would look like success.
 *
 *   node tests/packaging/run.js                 all of them; starts README's table anew
 *   node tests/packaging/run.js vite webpack    those with one of these words in the name of their file
 */
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { fileURLToPath } from "node:url";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const ROOT = join(HERE, "../..");
const CONCURRENCY = 2;

const words = process.argv.slice(2);
const isWanted = (/** @type {string} */ name) => words.length === 0 || words.some((word) => name.includes(word));
const files = readdirSync(HERE).filter((name) => name.endsWith(".test.js") && isWanted(name)).map((name) => join(HERE, name));
if (words.length === 0) rmSync(join(ROOT, "target/compatibility"), { recursive: true, force: true });

const installed = mkdtempSync(join(tmpdir(), "token2text-"));
try {
  install(installed);
  process.env.TOKEN2TEXT_INSTALLED = installed;
  process.exitCode = (await runTests()) ? 0 : 1;
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

/** Whether every file had tests and every test ran and passed. */
async function runTests() {
  const stream = run({ files, concurrency: CONCURRENCY });
  /** @type {string[]} */
  const wrong = [];
  let ran = 0;
  stream.on("test:fail", ({ name }) => wrong.push(`failed: ${name}`));
  stream.on("test:pass", ({ name, skip, todo }) => {
    if (skip || todo) wrong.push(`did not run: ${name}`);
    // A file without tests passes as one test with the name of the file.
    else if (files.includes(name)) wrong.push(`has no tests: ${name}`);
    else ran++;
  });
  stream.compose(/** @type {any} */ (new spec())).pipe(process.stdout);
  await once(stream, "end");
  for (const line of wrong) console.error(line);
  return ran > 0 && wrong.length === 0;
}
