/** Why a store cannot be opened. */

/**
 * - `store_locked`: another process keeps it.
 * - `store_newer`: a newer version of this package has written it.
 * - `store_older`: an older version has; only the collector brings it up to date, when it starts.
 * - `store_foreign`: the file is something else.
 * - `store_unusable`: the file cannot be opened or read.
 *
 * @typedef {"store_locked" | "store_newer" | "store_older" | "store_foreign" | "store_unusable"} StoreErrorCode
 */

export class StoreError extends Error {
  /** @param {StoreErrorCode} code @param {string} message Names the file, and what to do. */
  constructor(code, message) {
    super(message);
    this.name = "StoreError";
    this.code = code;
  }
}
