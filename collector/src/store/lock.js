/**
 * One process keeps a store. The lock is on a file beside it, so that the store itself can be read by anyone; the system
 * frees it however the process ends.
 */
import Database from "better-sqlite3";
import { StoreError } from "./store-error.js";

/**
 * @param {string} file Of the store.
 * @returns {() => void} Frees it.
 * @throws {StoreError} `store_locked`.
 */
export function lock(file) {
  const database = new Database(`${file}.lock`, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (/** @type {{ code?: string }} */ (error).code !== "SQLITE_BUSY") throw error;
    throw new StoreError("store_locked", `${file} is in use by another process: stop that one, or name another file`);
  }
  return () => database.close();
}
