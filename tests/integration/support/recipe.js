/** A recipe of the package's README, run as printed but for the addresses of servers, in a project of its own. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { readCommands, readSections } from "../../packaging/support/readme.js";

const PKG = fileURLToPath(new URL("../../../pkg", import.meta.url));

/**
 * @param {string} title
 * @param {{ urls: Record<string, string>, files: Record<string, string> }} more `urls`: what is printed, and where it is. `files`: what the
 *   reader has, by name, and where it is.
 * @returns {Promise<number>} How many commands there were.
 */
export async function runRecipe(title, { urls, files }) {
  const folder = mkdtempSync(join(tmpdir(), "token2text-recipe-"));
  try {
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(PKG, join(folder, "node_modules/token2text"));
    for (const [name, from] of Object.entries(files)) cpSync(from, join(folder, name));
    const section = readSections(readFileSync(join(PKG, "README.md"), "utf8")).find((other) => other.title === title);
    assert.ok(section, `README has no section ${title}`);
    let commands = 0;
    for (const { language, file, text } of section.blocks) {
      const here = Object.entries(urls).reduce((all, [printed, url]) => all.replaceAll(printed, url), text);
      if (file) writeFileSync(join(folder, file), here);
      if (language !== "sh") continue;
      for (const { command, output } of readCommands(here)) {
        const { stdout } = await promisify(execFile)("bash", ["-euc", command], { cwd: folder });
        if (output !== undefined) assert.equal(stdout.trimEnd(), output.trimEnd(), command);
        commands++;
      }
    }
    return commands;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
