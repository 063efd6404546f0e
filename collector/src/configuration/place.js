/** Where a value was given, and what was wrong there. */

/** What makes a configuration unusable: each with its place, what was wrong and what to write. */
export class ConfigurationError extends Error {
  /** @param {string[]} problems */
  constructor(problems) {
    super(problems.join("\n"));
    this.name = "ConfigurationError";
    this.problems = problems;
  }
}

/**
 * The place of a value, which names itself in messages: `--relay`, `TOKEN2TEXT_WORKERS`, `config.yaml:7:12: relays[0].upstream`.
 *
 * @typedef {object} Place
 * @property {string} label
 * @property {string} folder What relative paths begin at.
 * @property {(key: string | number, part?: "value" | "key") => Place} inside The place of a member, of its value or its key.
 * @property {(message: string) => undefined} fail Notes what is wrong; the value is then left out.
 */

/**
 * A place that has no parts of its own: a flag, a variable.
 *
 * @param {string} label
 * @param {string} folder
 * @param {string[]} problems Where messages go.
 * @returns {Place}
 */
export function plainPlace(label, folder, problems) {
  /** @type {Place} */
  const place = { label, folder, inside: () => place, fail: (message) => void problems.push(`${label}: ${readable(message)}`) };
  return place;
}

/** What was given stands in messages: cut where it is long, and without what steers a terminal. @param {string} message */
function readable(message) {
  return message.replace(/[^\s`]{200,}/g, (word) => `${word.slice(0, 80)}...`).replace(/[\u0000-\u001f\u007f-\u009f]/g, " ");
}

/**
 * The known word that was probably meant, as a sentence to add to a message; nothing if none is near.
 *
 * @param {string} word
 * @param {string[]} known
 * @param {string} [prefix] Of the words, as they are written.
 * @example
 *   didYouMean("worker", ["workers", "relay"], "--"); // "; did you mean `--workers`?"
 */
export function didYouMean(word, known, prefix = "") {
  const plain = (/** @type {string} */ text) => text.toLowerCase().replace(/[^a-z0-9.]/g, "");
  const given = plain(word);
  const [best] = known
    .map((name) => ({ name, distance: distance(given, plain(name)) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(plain(name).length / 3)))
    .sort((a, b) => a.distance - b.distance);
  return best === undefined ? "" : `; did you mean \`${prefix}${best.name}\`?`;
}

/** Letters put in, taken out, changed, or swapped with the next. @param {string} a @param {string} b */
function distance(a, b) {
  /** @type {number[][]} */
  const rows = [[...Array(b.length + 1).keys()]];
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const changed = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i][j] = Math.min(changed, rows[i - 1][j] + 1, rows[i][j - 1] + 1);
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwapped) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
