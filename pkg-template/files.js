/** Paths and `file:` URLs, where the runtime has a file system. */

/** @typedef {import("./engines.js").AsyncSource} AsyncSource */

const CHUNK = 1 << 20;

/**
 * A module of Node without an import, which a bundler for browsers would stumble over.
 *
 * @template {"node:fs" | "node:fs/promises" | "node:url"} T
 * @param {T} name
 */
const builtin = (name) => process.getBuiltinModule(name);

/** Whether there are files to open. */
export const hasFiles = typeof process === "object" && typeof process.getBuiltinModule === "function";

/** Whether it is a URL and no path: one letter and a colon is a Windows drive. @param {string | URL} source */
export function isAddress(source) {
  return /^[a-z][a-z0-9+.-]+:/i.test(String(source));
}

/**
 * Opens a path or a `file:` URL; undefined for another URL.
 *
 * @param {string | URL} source
 * @returns {Promise<AsyncSource> | undefined}
 */
export function openFile(source) {
  if (!isAddress(source)) return openPath(String(source));
  return /^file:/i.test(String(source)) ? openPath(builtin("node:url").fileURLToPath(String(source))) : undefined;
}

/** @param {string} path */
async function openPath(path) {
  const { size } = await builtin("node:fs/promises").stat(path);
  return { chunks: builtin("node:fs").createReadStream(path, { highWaterMark: CHUNK }), total: size || undefined, name: path };
}
