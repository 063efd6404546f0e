/** SQLite without a collector around it, a process of its own: commits the bodies of `collector-bodies.mjs`, so many at once. */
import { createRequire } from "node:module";
import { bodiesOf } from "./collector-bodies.mjs";

/** @type {typeof import("better-sqlite3")} */
const Database = createRequire(new URL("../collector/package.json", import.meta.url))("better-sqlite3");

/** @typedef {{ file: string, name: string, bodies: number, group: number }} Alone */

/** @param {Alone} job */
function run({ file, name, bodies, group }) {
  const given = bodiesOf(name);
  const database = new Database(file);
  for (const pragma of ["page_size = 8192", "journal_mode = WAL", "synchronous = FULL"]) database.pragma(pragma);
  database.exec("CREATE TABLE bodies (id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, body BLOB NOT NULL) STRICT");
  const insert = database.prepare("INSERT INTO bodies (at, body) VALUES (?, ?)");
  const commit = database.transaction((/** @type {number} */ from, /** @type {number} */ end) => {
    for (let i = from; i < end; i++) insert.run(Date.now(), given[i % given.length]);
  });
  const start = performance.now();
  for (let from = 0; from < bodies; from += group) commit(from, Math.min(bodies, from + group));
  const seconds = (performance.now() - start) / 1000;
  database.close();
  return { rate: bodies / seconds };
}

process.on("message", (/** @type {Alone} */ job) => process.send?.(run(job)));
process.send?.("ready");
