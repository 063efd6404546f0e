/** Dead letters as people handle them: in the file of a store, also beside the collector that keeps it. */
import { unpacked } from "../store/packed-ids.js";

/** Which are meant; without either, all. @typedef {{ export?: string, ids?: number[] }} Which */
/**
 * @typedef {object} Letter
 * @property {number} id
 * @property {string} export Which one has refused it.
 * @property {number} [body] Its number in the store.
 * @property {number} spans
 * @property {number} bytes
 * @property {string[]} traces
 * @property {string} receivedAt
 * @property {string} refusedAt
 * @property {number} attempts
 * @property {number | null} status Of HTTP.
 * @property {string} reason
 * @property {boolean} isDue Whether it will be tried again.
 */

/** @param {import("better-sqlite3").Database} database @param {Which} which @returns {Letter[]} The oldest first. */
export function list(database, which) {
  const { where, values } = conditionOf(which);
  const letters = database.prepare(`
    SELECT dead.id, export, dead.body, spans, length(bodies.body) AS bytes, bodies.at AS received, dead.at AS refused, attempts, status, reason, due
    FROM dead JOIN bodies ON bodies.id = dead.body WHERE ${where} ORDER BY dead.id`);
  const traces = database.prepare("SELECT traces FROM traced WHERE body = ?").pluck();
  return letters.all(...values).map((/** @type {any} */ { received, refused, due, ...letter }) => ({
    ...letter,
    traces: unpacked(/** @type {Buffer} */ (traces.get(letter.body))).map((id) => Buffer.from(id, "latin1").toString("hex")),
    receivedAt: new Date(received).toISOString(),
    refusedAt: new Date(refused).toISOString(),
    isDue: due === 1,
  }));
}

/** Has them tried again, as soon as a collector runs. @param {import("better-sqlite3").Database} database @param {Which} which @returns {number} How many. */
export function tryAgain(database, which) {
  const { where, values } = conditionOf(which);
  return database.prepare(`UPDATE dead SET due = 1 WHERE ${where}`).run(...values).changes;
}

/**
 * Gives them up: they are dead letters no more, and their bodies may be pruned.
 *
 * @param {import("better-sqlite3").Database} database
 * @param {Which} which
 * @returns {Letter[]} Those that were given up.
 */
export function giveUp(database, which) {
  return database.transaction(() => {
    const { where, values } = conditionOf(which);
    const letters = list(database, which);
    database.prepare(`DELETE FROM dead WHERE ${where}`).run(...values);
    return letters;
  }).immediate();
}

/** @param {Which} which */
function conditionOf({ export: name, ids }) {
  const parts = [...(name === undefined ? [] : ["export = ?"]), ...(ids === undefined ? [] : [`dead.id IN (${ids.map(() => "?").join()})`])];
  return { where: parts.join(" AND ") || "true", values: [...(name === undefined ? [] : [name]), ...(ids ?? [])] };
}
