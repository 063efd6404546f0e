/** Adds up the reports of all records and says it in a few lines. */

/** @typedef {import("../report.js").Report} Report */
/** @typedef {{ count: number, example: string }} Kind */

export class Summary {
  #counts = {
    spans: 0,
    decoded: 0,
    kept: 0,
    replaced: 0,
    skipped: 0,
    ids: 0,
    idsDropped: 0,
    shortened: 0,
    unknownIds: 0,
    different: 0,
    spansWithoutIds: 0,
    messages: 0,
  };
  #skipped = new Kinds("skipped");
  #notDropped = new Kinds("ids stay");
  #noMessages = new Kinds("no conversation");
  #broken = new Kinds("copied unchanged");
  #warnings = new Kinds("warning");
  #isBroken = false;

  /** Whether anything was left without text that looked as if it should have some. */
  get incomplete() {
    return this.#counts.skipped > 0 || this.#isBroken;
  }

  /** @param {Report} report @param {string} where File and line. */
  add({ spans, totals, fields, warnings, messages = [] }, where) {
    this.#counts.spans += spans;
    for (const name of /** @type {(keyof typeof totals)[]} */ (Object.keys(totals))) {
      if (name in this.#counts) this.#counts[/** @type {"ids"} */ (name)] += /** @type {number} */ (totals[name]);
    }
    // The list of fields may be cut; the counts are not.
    for (const [reason, count] of Object.entries(totals.reasons)) {
      const field = fields.find((candidate) => candidate.reason === reason);
      const kinds = reason === "not_dropped" ? this.#notDropped : this.#skipped;
      kinds.add(reason, count, `${where} ${field?.path ?? ""}: ${field?.detail ?? ""}`);
    }
    for (const [reason, count] of Object.entries(totals.noMessages ?? {})) {
      const place = messages.find((candidate) => candidate.reason === reason);
      this.#noMessages.add(reason, count, `${where} ${place?.path ?? ""}: ${place?.detail ?? ""}`);
    }
    for (const { code, message, path } of warnings) this.#warnings.add(code, 1, `${where} ${path}: ${message}`);
  }

  /** @param {string} code @param {string} message @param {string} where */
  addBroken(code, message, where) {
    this.#isBroken = true;
    this.#broken.add(code, 1, `${where}: ${message}`);
  }

  /** The summary of `enrich`. @param {string} [done] What became of texts. */
  toString(done = "written") {
    const { spans, decoded, kept, replaced, ids, idsDropped, shortened, unknownIds, different, spansWithoutIds, messages } = this.#counts;
    const lines = [`${count(spans, "record")}: ${count(decoded + replaced, "text")} ${done}; ${count(ids, "token id")}`];
    if (kept > 0) lines.push(`${count(kept, "text")} already there and kept`);
    if (different > 0) lines.push(`  ${different} of them other than what the ids say`);
    if (replaced > 0) lines.push(`${count(replaced, "text")} ${done} over another value`);
    if (idsDropped > 0) lines.push(`${count(idsDropped, "token id")} taken out`);
    if (shortened > 0) lines.push(`${count(shortened, "text")} shortened`);
    if (unknownIds > 0) lines.push(`${count(unknownIds, "id")} unknown to the tokenizer and left out of the text`);
    if (spansWithoutIds > 0) lines.push(`${count(spansWithoutIds, "record")} without token ids`);
    if (messages > 0) lines.push(`${count(messages, "conversation")} ${done}`);
    return lines.map((line) => `${line}\n`).join("") + this.#skipped + this.#notDropped + this.#noMessages + this.problemText();
  }

  /** The summary of a command that decodes nothing: only what went wrong. */
  problemText() {
    return `${this.#broken}${this.#warnings}`;
  }
}

/** Things of one kind, counted, with an example. */
class Kinds {
  /** @type {Map<string, Kind>} */
  #kinds = new Map();

  /** @param {string} what */
  constructor(what) {
    this.what = what;
  }

  /** @param {string} code @param {number} count @param {string} example */
  add(code, count, example) {
    const kind = this.#kinds.get(code);
    if (kind) kind.count += count;
    else this.#kinds.set(code, { count, example });
  }

  toString() {
    const lines = [...this.#kinds].map(([code, { count, example }]) => {
      return `${this.what}, ${code}: ${count === 1 ? "" : `${count}, the first `}${example}\n`;
    });
    return lines.join("");
  }
}

/** @param {number} n @param {string} noun */
export function count(n, noun) {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
