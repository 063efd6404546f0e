/** Files that a configuration names: whether they are there and can be read. */
import { accessSync, constants, readFileSync, statSync } from "node:fs";

/** @typedef {import("./place.js").Place} Place */

/** @type {Record<string, string>} */
const REASONS = {
  ENOENT: "there is no such file",
  ENOTDIR: "there is no such file",
  EACCES: "this user may not read it",
  EPERM: "this user may not read it",
  EISDIR: "it is a folder",
};

/**
 * What stands at a path, if it can be read.
 *
 * @param {string} path
 * @param {Place} [place] Told why not.
 */
export function statOf(path, place) {
  try {
    const found = statSync(path);
    accessSync(path, constants.R_OK);
    return found;
  } catch (error) {
    return place?.fail(`cannot read ${path}: ${reason(error)}`);
  }
}

/** @param {string} path @param {Place} place */
export function readText(path, place) {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return place.fail(`cannot read ${path}: ${reason(error)}`);
  }
}

/** @param {unknown} error */
function reason(error) {
  const { code = "", message } = /** @type {NodeJS.ErrnoException} */ (error);
  return REASONS[code] ?? message;
}
