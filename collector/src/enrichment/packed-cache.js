/**
 * Packed tokenizers as files of a folder, so that the next start needs no parsing. Any number of processes may share it; what is
 * damaged or by someone else counts as absent.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";

/** The oldest beyond that go. */
const MAX_FILES = 32;
const SUFFIX = ".packed";
/** One that was left by a process that ended while it wrote. */
const LEFT_MILLIS = 3_600_000;

/**
 * What stands before the tokenizer: its own key, so that no file counts under another name, and a digest of the rest.
 *
 * @param {string} key
 * @param {Uint8Array} packed
 */
function headOf(key, packed) {
  return Buffer.from(`token2text-collector packed tokenizer ${key} ${createHash("sha256").update(packed).digest("hex")}\n`);
}

/**
 * @param {string} folder
 * @param {string} key In hexadecimal.
 * @returns {Promise<Uint8Array | undefined>}
 */
export async function readPacked(folder, key) {
  const path = join(folder, key + SUFFIX);
  const file = await open(path).catch(() => undefined);
  if (!file) return undefined;
  try {
    const { uid, mode } = await file.stat();
    // Others must not choose our texts.
    if (process.getuid && (uid !== process.getuid() || (mode & 0o022) !== 0)) return undefined;
    const bytes = await file.readFile();
    const packed = bytes.subarray(bytes.indexOf("\n") + 1);
    if (!bytes.subarray(0, bytes.length - packed.length).equals(headOf(key, packed))) return undefined;
    // The most recently used are kept.
    const now = new Date();
    await utimes(path, now, now).catch(() => {});
    return packed;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/**
 * @param {string} folder Made if it is not there.
 * @param {string} key
 * @param {Uint8Array} packed
 * @throws {Error} What the file system says.
 */
export async function writePacked(folder, key, packed) {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, key + SUFFIX);
  const temporary = `${join(folder, key)}.${randomBytes(8).toString("hex")}${SUFFIX}.tmp`;
  try {
    const file = await open(temporary, "wx", 0o600);
    try {
      await file.writeFile(headOf(key, packed));
      await file.writeFile(packed);
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await prune(folder);
}

/** Other processes may remove the same files. @param {string} folder */
async function prune(folder) {
  const names = await readdir(folder);
  const ages = async (/** @type {string} */ suffix) => {
    const ours = names.filter((name) => name.endsWith(suffix));
    const found = await Promise.all(ours.map((name) => stat(join(folder, name)).then(({ mtimeMs }) => ({ name, mtimeMs }), () => [])));
    return found.flat().sort((a, b) => b.mtimeMs - a.mtimeMs);
  };
  const old = (await ages(SUFFIX)).slice(MAX_FILES);
  const left = (await ages(`${SUFFIX}.tmp`)).filter(({ mtimeMs }) => mtimeMs < Date.now() - LEFT_MILLIS);
  await Promise.all([...old, ...left].map(({ name }) => rm(join(folder, name), { force: true })));
}
