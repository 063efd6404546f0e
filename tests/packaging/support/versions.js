/** Versions for README's table. */
import { readFileSync } from "node:fs";

const { devDependencies } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));

/** The exact version of a tool that tests/packaging pins. @param {string} name @returns {string} */
export function pinned(name) {
  const version = devDependencies[name];
  if (!version) throw new Error(`tests/packaging/package.json does not have ${name}`);
  return version;
}

/** The major version alone, of what the machine has: its updates shall not change the table. @param {string} version */
export function major(version) {
  const found = version.match(/\d+/);
  if (!found) throw new Error(`no version in ${JSON.stringify(version)}`);
  return found[0];
}
