/**
 * Writes what the tests of tests/packaging saw into the table of README.md; fails where an environment is missing.
 *
 *   node scripts/compatibility-table.js
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ENVIRONMENTS, WAYS } from "../tests/packaging/environments.js";
import { ROOT, fail } from "./lib.js";

/** @typedef {import("../tests/packaging/environments.js").Way} Way */
/** @typedef {import("../tests/packaging/environments.js").Environment} Environment */

const README = join(ROOT, "README.md");
const BEGIN = "<!-- compatibility -->";
const END = "<!-- /compatibility -->";

const ways = /** @type {Way[]} */ (Object.keys(WAYS));
const rows = Object.entries(ENVIRONMENTS).map(([id, environment]) => row(id, environment));
const table = [["", "version", ...Object.values(WAYS)], ["---", "---", ...ways.map(() => ":-:")], ...rows];
replaceTable(table.map((cells) => `| ${cells.join(" | ")} |`).join("\n"));

/** @param {string} id @param {Environment} environment */
function row(id, { name, ways: tried }) {
  const versions = new Set(tried.map((way) => seen(id, way)));
  if (versions.size !== 1) fail(`${id} ran in several versions: ${[...versions].join(", ")}`);
  return [name, ...versions, ...ways.map((way) => (tried.includes(way) ? "yes" : "–"))];
}

/** The version in which a way passed. @param {string} id @param {Way} way @returns {string} */
function seen(id, way) {
  const path = join(ROOT, "target/compatibility", `${id}-${way}.json`);
  if (!existsSync(path)) fail(`${id} was not tried with ${way}: run \`make test-packaging\``);
  return JSON.parse(readFileSync(path, "utf8")).version;
}

/** @param {string} text */
function replaceTable(text) {
  const readme = readFileSync(README, "utf8");
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) fail(`README.md has no place for the table: ${BEGIN} ... ${END}`);
  writeFileSync(README, `${readme.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${readme.slice(end)}`);
}
