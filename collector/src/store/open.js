/** The file of a store: made if there is none, and left alone if it is something else. */
import { closeSync, existsSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { MIGRATIONS } from "./migrations.js";
import { StoreError } from "./store-error.js";
import { MOST_PAGES } from "./write-ahead-log.js";

/** What a file of SQLite says of whose it is: `t2tc`. */
export const APPLICATION_ID = 0x74327463;
/** Commands write beside a running collector, each for a moment. */
const BUSY_MILLIS = 5000;
/** What a large transaction has made of the log is given back after it. */
const LOG_BYTES = 64 << 20;
/** Bodies of 145 KB are written a third faster than in SQLite's pages of 4 KiB, those of 3 KB as fast. */
const PAGE_BYTES = 8192;

/**
 * Opens the file for the process that keeps it, which makes it and brings its tables up to date.
 *
 * @param {string} file
 * @param {readonly string[]} [migrations]
 * @returns {Database.Database}
 * @throws {StoreError}
 */
export function openKept(file, migrations = MIGRATIONS) {
  return opened(file, (database) => {
    const version = versionOf(database, file, migrations);
    // Of a new file: bodies are long.
    database.pragma(`page_size = ${PAGE_BYTES}`);
    database.pragma("journal_mode = WAL");
    // An acknowledgement must outlive the machine, not only the process.
    database.pragma("synchronous = FULL");
    database.pragma(`wal_autocheckpoint = ${MOST_PAGES}`);
    database.pragma(`journal_size_limit = ${LOG_BYTES}`);
    migrate(database, migrations, version);
  }, "a");
}

/**
 * Opens the file beside the process that keeps it.
 *
 * @param {string} file
 * @returns {Database.Database}
 * @throws {StoreError}
 */
export function openBeside(file) {
  return opened(file, (database) => {
    const version = versionOf(database, file, MIGRATIONS);
    database.pragma("synchronous = FULL");
    if (version < MIGRATIONS.length) {
      throw new StoreError("store_older", `${file} is of an older version of token2text-collector: start the collector with it once`);
    }
  }, "r");
}

/**
 * Looks at what may be kept: no file yet, or a store of this version or an older one.
 *
 * @param {string} file
 * @throws {StoreError}
 */
export function checkStore(file) {
  if (existsSync(file)) opened(file, (database) => versionOf(database, file, MIGRATIONS), "r").close();
}

/** @param {string} file @param {(database: Database.Database) => void} prepare @param {"a" | "r"} flags `a`: made if it is not there. */
function opened(file, prepare, flags) {
  /** @type {Database.Database | undefined} */
  let database;
  try {
    // Traces are nobody else's business; SQLite gives the files beside it the same mode.
    closeSync(openSync(file, flags, 0o600));
    database = new Database(file, { fileMustExist: true, timeout: BUSY_MILLIS });
    prepare(database);
    return database;
  } catch (error) {
    throw closed(file, database, error);
  }
}

/**
 * Closes a file that is of no use.
 *
 * @param {string} file
 * @param {Database.Database | undefined} database
 * @param {unknown} error Why.
 * @returns {StoreError} To be thrown.
 */
export function closed(file, database, error) {
  database?.close();
  return error instanceof StoreError ? error : inWords(file, /** @type {NodeJS.ErrnoException} */ (error));
}

/** How many migrations it has; 0 for a new file. @param {Database.Database} database @param {string} file @param {readonly string[]} migrations */
function versionOf(database, file, migrations) {
  const owner = database.pragma("application_id", { simple: true });
  const version = /** @type {number} */ (database.pragma("user_version", { simple: true }));
  const isNew = owner === 0 && version === 0 && database.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
  if (!isNew && owner !== APPLICATION_ID) throw new StoreError("store_foreign", `${file} is a database of another program: name another file`);
  if (version <= migrations.length) return version;
  const words = `its schema is ${version}, this version knows ${migrations.length}: update token2text-collector, or name another file`;
  throw new StoreError("store_newer", `${file} was written by a newer version of token2text-collector (${words})`);
}

/** All of them or none. @param {Database.Database} database @param {readonly string[]} migrations @param {number} version */
function migrate(database, migrations, version) {
  if (version === migrations.length) return;
  database.transaction(() => {
    for (const sql of migrations.slice(version)) database.exec(sql);
    database.pragma(`application_id = ${APPLICATION_ID}`);
    database.pragma(`user_version = ${migrations.length}`);
  }).immediate();
}

/** @type {Record<string, string>} */
const REASONS = {
  ENOENT: "there is no such file, or no folder for it",
  ENOTDIR: "there is no such folder",
  EISDIR: "it is a folder",
  EACCES: "this user may not write it",
  EPERM: "this user may not write it",
  EROFS: "it is on a file system that cannot be written",
  SQLITE_CORRUPT: "it is damaged; `sqlite3 FILE .recover` gets out of it what is left",
  SQLITE_READONLY: "this user may not write it",
};

/** @param {string} file @param {NodeJS.ErrnoException} error */
export function inWords(file, { code = "", message }) {
  if (code === "SQLITE_NOTADB") return new StoreError("store_foreign", `${file} is no store, nor any database of SQLite: name another file`);
  return new StoreError("store_unusable", `cannot open ${file}: ${REASONS[code] ?? message}`);
}
