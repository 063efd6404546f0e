import { createWriteStream, lstatSync, realpathSync, statSync, unlinkSync } from "node:fs";
import { mkdir, rename, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { UsageError } from "./args.js";

/**
 * @typedef {object} Output
 * @property {(bytes: Buffer) => Promise<void>} write
 * @property {() => Promise<void>} commit Ends the output; a file gets its name only now.
 * @property {() => void} abandon Leaves what was there before.
 */

/** Half-written files, removed when the process ends early. @type {Set<string>} */
const unfinished = new Set();
process.on("exit", () => unfinished.forEach(removeQuietly));

/**
 * Where each input goes: undefined is the standard output.
 *
 * @param {string[]} files
 * @param {string} [output]
 * @returns {Promise<(string | undefined)[]>}
 */
export async function planOutputs(files, output) {
  if (output === undefined) return files.map(() => undefined);
  const isFolder = /[\\/]$/.test(output) || ((await stat(output).catch(() => undefined))?.isDirectory() ?? false);
  if (!isFolder && files.length === 1) return [output];
  if (!isFolder) {
    const exists = await stat(output).catch(() => undefined);
    if (exists) throw new UsageError(`several files need a folder for --output; ${output} is a file`);
  }
  await mkdir(output, { recursive: true });
  return inFolder(files, output);
}

/** @param {string[]} files @param {string} folder */
function inFolder(files, folder) {
  const seen = new Map();
  return files.map((file) => {
    const name = file === "-" ? "stdin" : basename(file);
    if (seen.has(name)) {
      throw new UsageError(`${seen.get(name)} and ${file} would both become ${join(folder, name)}; run them apart`);
    }
    seen.set(name, file);
    return join(folder, name);
  });
}

/**
 * Opens an output. A file is written beside its place and renamed at the end, so that nobody sees half of it.
 *
 * @param {string | undefined} path
 * @returns {Output}
 */
export function openOutput(path) {
  if (path === undefined) return onStream(process.stdout, async () => {});
  const target = realTarget(path);
  if (target.special) return onFile(path, path, async () => {});
  const temporary = join(dirname(target.path), `.${basename(target.path)}.${process.pid}.tmp`);
  return onFile(path, temporary, () => rename(temporary, target.path), target.mode);
}

/** Follows links, so that a link stays one. @param {string} path */
function realTarget(path) {
  try {
    const real = lstatSync(path).isSymbolicLink() ? realpathSync(path) : path;
    const stats = statSync(real);
    return { path: real, special: !stats.isFile(), mode: stats.mode & 0o777 };
  } catch {
    return { path, special: false };
  }
}

/**
 * @param {string} name
 * @param {string} path Where the bytes are written.
 * @param {() => Promise<void>} place
 * @param {number} [mode]
 * @returns {Output}
 */
function onFile(name, path, place, mode) {
  const isTemporary = path !== name;
  if (isTemporary) unfinished.add(path);
  const file = createWriteStream(path, { mode });
  const head = name.endsWith(".gz") ? createGzip() : new PassThrough();
  const done = pipeline(head, file).catch((error) => {
    throw new UsageError(`cannot write ${name}: ${error.message}`);
  });
  done.catch(() => {}); // told by the next write or by commit
  const output = onStream(head, async () => {
    head.end();
    await done;
    await place();
    unfinished.delete(path);
  });
  return {
    write: (bytes) => Promise.race([output.write(bytes), done]),
    commit: output.commit,
    abandon() {
      head.destroy();
      if (isTemporary) removeQuietly(path);
      unfinished.delete(path);
    },
  };
}

/** @param {NodeJS.WritableStream} stream @param {() => Promise<void>} commit @returns {Output} */
function onStream(stream, commit) {
  return {
    async write(bytes) {
      if (!stream.write(bytes)) await new Promise((resolve) => stream.once("drain", () => resolve(undefined)));
    },
    commit,
    abandon() {},
  };
}

/** @param {string} path */
function removeQuietly(path) {
  try {
    unlinkSync(path);
  } catch {
    // never made, or already renamed
  }
}

