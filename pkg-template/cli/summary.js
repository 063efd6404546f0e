/** Adds up the reports of all records and says it in a few lines. */

/** @typedef {import("../report.js").Report} Report */
/** @typedef {{ count: number, where: string, reason: string }} Kind */

const MAX_KINDS = 20;

export class Summary {
  #counts = { records: 0, prompt: 0, response: 0, ids: 0, kept: 0, replaced: 0, unknown: 0, skipped: 0, broken: 0 };
  #skipped = new Kinds();
  #broken = new Kinds();
  #warnings = new Kinds();

  /** Whether anything was left without text that looked as if it should have some. */
  get incomplete() {
    return this.#counts.skipped > 0 || this.#counts.broken > 0;
  }

  /** @param {Report} report @param {string} where File and line. */
  add(report, where) {
    this.#counts.records += 1;
    for (const field of report.fields) {
      if (field.status === "skipped") {
        this.#counts.skipped++;
        this.#skipped.add(field.reason ?? "no reason given", `${where} ${field.path}`);
        continue;
      }
      if (field.status === "kept") this.#counts.kept++;
      else this.#counts[field.kind]++;
      if (field.status === "replaced") this.#counts.replaced++;
      this.#counts.ids += field.ids ?? 0;
      this.#counts.unknown += field.unknown?.count ?? 0;
    }
    for (const warning of report.warnings) this.#warnings.add(warning.message, `${where} ${warning.path ?? ""}`.trimEnd());
  }

  /** @param {string} reason @param {string} where */
  addBroken(reason, where) {
    this.#counts.broken++;
    this.#broken.add(reason, where);
  }

  /** The summary of `enrich`. */
  toString() {
    const { records, prompt, response, ids, kept, replaced, unknown } = this.#counts;
    const lines = [
      `${count(records, "record")}: ${count(prompt, "prompt")} and ${count(response, "response")} decoded, ${count(ids, "id")}`,
    ];
    if (kept > 0) lines.push(`${count(kept, "text")} already there and kept`);
    if (replaced > 0) lines.push(`${count(replaced, "text")} replaced`);
    if (unknown > 0) lines.push(`${count(unknown, "id")} unknown to the tokenizer and left out of the text`);
    lines.push(...this.#skipped.lines("skipped"), ...this.#problems());
    return `${lines.join("\n")}\n`;
  }

  /** The summary of a command that decodes nothing: only what went wrong. */
  problemText() {
    return this.#problems().map((line) => `${line}\n`).join("");
  }

  #problems() {
    return [...this.#broken.lines("copied unchanged"), ...this.#warnings.lines("warning")];
  }
}

/** Messages that differ only in their numbers and quoted values, counted together with one example. */
class Kinds {
  /** @type {Map<string, Kind>} */
  #kinds = new Map();
  #others = 0;

  /** @param {string} reason @param {string} where */
  add(reason, where) {
    const key = reason.replace(/\d+/g, "#").replace(/"[^"]*"/g, '"..."');
    const kind = this.#kinds.get(key);
    if (kind) kind.count++;
    else if (this.#kinds.size < MAX_KINDS) this.#kinds.set(key, { count: 1, where, reason });
    else this.#others++;
  }

  /** @param {string} what */
  lines(what) {
    const lines = [...this.#kinds.values()].map(({ count, where, reason }) => {
      return count === 1 ? `${what}: ${where}: ${reason}` : `${what}: ${count} times, first ${where}: ${reason}`;
    });
    if (this.#others > 0) lines.push(`${what}: ${this.#others} more of other kinds; --report json lists them all`);
    return lines;
  }
}

/** @param {number} n @param {string} noun */
function count(n, noun) {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}
