/** The tables of a store. A version of the schema is the number of steps that have made it; steps are only ever added. */

/** @type {readonly string[]} In SQL. */
export const MIGRATIONS = [
  `
  -- What was received, as it came. No id is ever given again: positions outlive what is pruned.
  CREATE TABLE bodies (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    spans INTEGER NOT NULL,
    -- Bytes of this one and of those before it: what lies between two is a difference.
    through INTEGER NOT NULL,
    body BLOB NOT NULL
  ) STRICT;

  -- Which traces a body has spans of.
  CREATE TABLE traces (
    trace BLOB NOT NULL,
    body INTEGER NOT NULL,
    PRIMARY KEY (trace, body)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX traces_by_body ON traces (body);

  -- All bodies up to the position are settled there: stored, or dead.
  CREATE TABLE exports (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What an export has refused for good. due: 1 if it is to be tried again.
  CREATE TABLE dead (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    export TEXT NOT NULL,
    body INTEGER NOT NULL,
    at INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    status INTEGER,
    reason TEXT NOT NULL,
    due INTEGER NOT NULL DEFAULT 0,
    UNIQUE (export, body)
  ) STRICT;
  CREATE INDEX dead_by_body ON dead (body);
  `,
  `
  -- Of which traces a body has spans: their ids, each after its length, in four bytes.
  CREATE TABLE traced (
    body INTEGER PRIMARY KEY,
    traces BLOB NOT NULL
  ) STRICT;
  -- The parts of the index that are whole, in the order of bodies: one ends with its last body.
  CREATE TABLE segments (last INTEGER PRIMARY KEY) STRICT;

  ALTER TABLE traces RENAME TO former;
  -- Entries of a segment are written together, in this order.
  CREATE TABLE traces (
    segment INTEGER NOT NULL,
    trace BLOB NOT NULL,
    body INTEGER NOT NULL,
    PRIMARY KEY (segment, trace, body)
  ) STRICT, WITHOUT ROWID;

  INSERT INTO traced (body, traces)
    SELECT body, CAST(group_concat(unhex(printf('%08x', length(trace))) || trace, '') AS BLOB) FROM former GROUP BY body;
  -- 512 KiB of ids are a segment; what is left waits for more.
  WITH numbered AS (SELECT body, sum(length(traces)) OVER (ORDER BY body) / 524288 AS number FROM traced)
    INSERT INTO segments (last)
    SELECT max(body) FROM numbered GROUP BY number HAVING number < (SELECT sum(length(traces)) / 524288 FROM traced);
  INSERT INTO traces (segment, trace, body)
    SELECT (SELECT min(last) FROM segments WHERE last >= former.body), trace, body FROM former
    WHERE body <= (SELECT max(last) FROM segments) ORDER BY 1, 2, 3;
  DROP TABLE former;
  `,
  `
  -- Entries of a segment, some in a row, by the first of them: see trace-blocks.js.
  CREATE TABLE blocks (
    id INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    trace BLOB NOT NULL,
    body INTEGER NOT NULL,
    marks BLOB NOT NULL,
    entries BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX blocks_by_first ON blocks (segment, trace, body, marks);

  -- A segment that is only begun is begun anew.
  WITH numbered AS (
    SELECT segment, trace, body, (row_number() OVER (PARTITION BY segment ORDER BY trace, body) - 1) / 20 AS number
    FROM traces WHERE segment IN (SELECT last FROM segments)
  ), ordered AS (
    SELECT segment, number, first_value(trace) OVER block AS trace, first_value(body) OVER block AS body,
      CASE length(trace) WHEN 0 THEN x'00' ELSE substr(trace, -1) END AS mark,
      unhex(printf('%08x%012x', length(trace), body)) || trace AS entry, trace AS own, body AS of
    FROM numbered WINDOW block AS (PARTITION BY segment, number ORDER BY trace, body)
  )
    INSERT INTO blocks (segment, trace, body, marks, entries)
    SELECT segment, trace, body, CAST(group_concat(mark, '' ORDER BY own, of) AS BLOB), CAST(group_concat(entry, '' ORDER BY own, of) AS BLOB)
    FROM ordered GROUP BY segment, number;
  DROP TABLE traces;
  `,
];
