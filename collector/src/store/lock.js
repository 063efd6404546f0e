/**
 * One process keeps a store. The lock is on a file beside it, so that the store itself can be read by anyone; the system
 * frees it however the process ends.
 */
import { closeSync, openSync } from "node:fs";
import Database from "better-sqlite3";
import { inWords } from "./open.js";
import { StoreError } from "./store-error.js";

/**
 * @param {string} file Of the store.
 * @returns {() => void} Frees it.
 * @throws {StoreError} `store_locked`, `store_unusable`.
 */
export function lock(file) {
  const lockFile = `${file}.lock`;
  /** @type {Database.Database | undefined} */
  let database;
  try {
    closeSync(openSync(lockFile, "a", 0o600));
    database = new Database(lockFile, { timeout: 0 });
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database?.close();
    if (/** @type {{ code?: string }} */ (error).code !== "SQLITE_BUSY") throw inWords(lockFile, /** @type {Error} */ (error));
    throw new StoreError("store_locked", `${file} is in use by another process: stop that one, or name another file`);
  }
  return () => database.close();
}
