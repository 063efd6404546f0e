/** Paths and `file:` URLs, where the runtime has a file system. */

/** @typedef {import("./engines.js").AsyncSource} AsyncSource */

const CHUNK = 1 << 18;

/**
 * A module of Node without an import, which a bundler for browsers would stumble over.
 *
 * @template {"node:fs/promises" | "node:url"} T
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
  return { chunks: chunksOf(path), total: size || undefined, name: path, lends: true };
}

/** Into one buffer, so that what is read leaves nothing behind. @param {string} path */
async function* chunksOf(path) {
  const file = await builtin("node:fs/promises").open(path);
  try {
    const buffer = new Uint8Array(CHUNK);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, CHUNK);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
