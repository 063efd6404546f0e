/** A recipe of the package's README, run as printed but for the addresses of servers, in a project of its own. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readCommands, readSections } from "../../packaging/support/readme.js";

const PKG = fileURLToPath(new URL("../../../pkg", import.meta.url));
const INSTALL = "npm install ";

/**
 * What the reader of a recipe has.
 *
 * @typedef {object} Reader
 * @property {Record<string, string>} [printed] What is printed, such as the address of a server, and what it is here.
 * @property {Record<string, string | Uint8Array>} files By name.
 * @property {Record<string, string>} [modules] What `npm install` in the recipe would bring, and the folder where it is.
 * @property {Record<string, string>} [env]
 * @property {string[]} [also] Commands for files that the recipe only shows.
 */

/**
 * @param {string} title
 * @param {Reader} reader
 * @returns {Promise<number>} How many commands of the recipe there were.
 */
export async function runRecipe(title, { printed = {}, files, modules = {}, env = {}, also = [] }) {
  const section = readSections(readFileSync(join(PKG, "README.md"), "utf8")).find((other) => other.title === title);
  assert.ok(section, `README has no section ${title}`);
  const here = (/** @type {string} */ text) => Object.entries(printed).reduce((all, [there, own]) => all.replaceAll(there, own), text);
  const commands = section.blocks.filter(({ language }) => language === "sh").flatMap(({ text }) => readCommands(here(text)));
  const own = commands.filter(({ command }) => !command.startsWith(INSTALL));
  const folder = mkdtempSync(join(tmpdir(), "token2text-recipe-"));
  try {
    mkdirSync(join(folder, "node_modules/.bin"), { recursive: true });
    for (const [name, from] of Object.entries({ ...modules, token2text: PKG })) symlinkSync(from, join(folder, "node_modules", name));
    symlinkSync("../token2text/bin/token2text.js", join(folder, "node_modules/.bin/token2text"));
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    for (const { file, text } of section.blocks) if (file) writeFileSync(join(folder, file), here(text));
    for (const { command, output } of [...own, ...also.map((command) => ({ command, output: undefined }))]) {
      const { stdout } = await promisify(execFile)("bash", ["-euc", command], { cwd: folder, env: { ...process.env, ...env } });
      // A line that ends in nothing has a space before it.
      if (output !== undefined) assert.equal(stdout.replaceAll(/ *\n/g, "\n").trimEnd(), output.trimEnd(), command);
    }
    return own.length;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
