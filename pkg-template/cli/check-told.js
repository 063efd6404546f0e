/** What `token2text check` says: a table with the findings below each rollout, or a JSON line for each. */
import { displayName } from "./input.js";
import { count } from "./summary.js";

/** @typedef {import("../rollout.js").Rollout} Rollout */
/** @typedef {import("../rollout.js").Finding} Finding */
/** @typedef {(typeof LEVELS)[number]} Level */

/** From the least on. */
export const LEVELS = /** @type {const} */ (["info", "warning", "error"]);
const COLUMNS = ["turns", "tokens", "model", "logprob"];
const WIDTH = 10;
const NAME_WIDTH = 40;
const MOST_IDS = 8;
/** In a terminal: red, yellow, blue. @type {Record<Level, number>} */
const COLOURS = { error: 31, warning: 33, info: 34 };

export class Told {
  #json;
  #level;
  #colours = process.stdout.isTTY === true && !process.env.NO_COLOR;
  #totals = { rollouts: 0, turns: 0, tokens: 0 };
  /** @type {Record<Level, number>} */
  #found = { error: 0, warning: 0, info: 0 };
  #hasHead = false;
  /** Whether something is at least as bad as the level that was asked for. */
  isBad = false;

  /** @param {{ json: boolean, level: Level }} options */
  constructor({ json, level }) {
    this.#json = json;
    this.#level = LEVELS.indexOf(level);
  }

  /** @param {string} file @param {import("../rollout.js").Rollouts} rollouts */
  add(file, { rollouts, skipped }) {
    if (!this.#json) this.#print(file === "-" ? "standard input" : file);
    for (const part of skipped) this.#addSkipped(file, part);
    for (const rollout of rollouts) this.#addRollout(file, rollout);
    if (!this.#json && rollouts.length === 0) this.#print("  no rollouts: no span has token ids that a layout knows");
  }

  end() {
    const { rollouts, turns, tokens } = this.#totals;
    process.stderr.write(`${count(rollouts, "rollout")}, ${count(turns, "turn")}, ${count(tokens, "token")}: ${summary(this.#found) || "nothing found"}\n`);
  }

  /** @param {string} file @param {import("../rollout.js").SkippedPart} part */
  #addSkipped(file, part) {
    const finding = { code: "unreadable", level: /** @type {const} */ ("error"), message: `${part.path}: ${part.detail}` };
    this.#count(finding);
    if (this.#json) return this.#print(JSON.stringify({ file: displayName(file), skipped: part }));
    if (this.#isShown(finding)) this.#print(`  ${this.#coloured("error")}  ${part.reason}  ${finding.message}`);
  }

  /** @param {string} file @param {Rollout} rollout */
  #addRollout(file, rollout) {
    const { statistics, findings } = rollout;
    const tokens = Object.values(statistics.tokens).reduce((sum, more) => sum + more, 0);
    this.#totals.rollouts++;
    this.#totals.turns += statistics.turns;
    this.#totals.tokens += tokens;
    for (const finding of findings) this.#count(finding);
    if (this.#json) return this.#print(JSON.stringify({ file: displayName(file), ...withoutTexts(rollout) }));
    if (!this.#hasHead) this.#print(row("", COLUMNS, "findings"));
    this.#hasHead = true;
    const logprob = statistics.logprobs ? statistics.logprobs.mean.toFixed(3) : "-";
    const numbers = [statistics.turns, tokens, statistics.tokens.model].map((number) => number.toLocaleString("en"));
    /** @type {Record<Level, number>} */
    const found = { error: 0, warning: 0, info: 0 };
    for (const { level } of findings) found[level]++;
    this.#print(row(`  ${nameOf(rollout)}`, [...numbers, logprob], summary(found) || "none"));
    for (const finding of findings) if (this.#isShown(finding)) this.#explain(rollout, finding);
  }

  /** @param {Rollout} rollout @param {Finding} finding */
  #explain(rollout, finding) {
    const call = rollout.calls[finding.call];
    const tokens = finding.tokens ? `, tokens ${finding.tokens[0]} to ${finding.tokens[1]}` : "";
    const place = call ? ` (${call.name || "span"} at ${call.path || "/"}${tokens})` : "";
    this.#print(`    ${this.#coloured(finding.level)}  ${finding.code}: ${finding.message}${place}`);
    for (const [name, side] of Object.entries({ before: finding.before, after: finding.after })) {
      if (!side) continue;
      const more = side.ids.length > MOST_IDS ? ", ..." : "";
      this.#print(`      ${name.padEnd(6)}  ${JSON.stringify(side.text)}  [${side.ids.slice(0, MOST_IDS).join(", ")}${more}]`);
    }
  }

  /** @param {{ level: Level }} finding */
  #count(finding) {
    this.#found[finding.level]++;
    this.isBad ||= this.#isShown(finding);
  }

  /** @param {{ level: Level }} finding */
  #isShown({ level }) {
    return LEVELS.indexOf(level) >= this.#level;
  }

  /** @param {Level} level */
  #coloured(level) {
    const text = level.padEnd(7);
    return this.#colours ? `\x1b[${COLOURS[level]}m${text}\x1b[0m` : text;
  }

  /** @param {string} line */
  #print(line) {
    process.stdout.write(`${line}\n`);
  }
}

/** @param {string} name @param {string[]} numbers @param {string} last */
function row(name, numbers, last) {
  return `${name.padEnd(NAME_WIDTH)}${numbers.map((number) => number.padStart(WIDTH)).join("")}  ${last}`;
}

/** @param {Record<Level, number>} found */
function summary(found) {
  const parts = [
    [found.error, "error"],
    [found.warning, "warning"],
    [found.info, "note"],
  ];
  return parts.flatMap(([number, what]) => (number ? [count(/** @type {number} */ (number), String(what))] : [])).join(", ");
}

/** What tells a rollout from others in a training run; where nothing does, what its first span is called. @param {Rollout} rollout */
function nameOf({ step, sampleIndex, rolloutN, validate, requestId, traceId, calls }) {
  const parts = [
    [step, "step"],
    [sampleIndex, "sample"],
    [rolloutN, "rollout"],
  ].flatMap(([number, what]) => (number === undefined ? [] : [`${what} ${number}`]));
  if (validate) parts.push("validation");
  if (parts.length > 0) return parts.join(", ");
  return requestId ?? traceId ?? calls[0]?.spanId ?? (calls[0]?.path || "/");
}

/** @param {Rollout} rollout */
function withoutTexts({ calls, ...rollout }) {
  return { ...rollout, calls: calls.map(({ ids, messages, ...call }) => ({ ...call, tokens: ids.length })) };
}
