/** The figures of one or more runs as tables in Markdown. */
import { row } from "../lib.mjs";
import { TEXT_DECODER } from "./contest.mjs";
import { TOKENIZERS } from "./paths.mjs";
import { OURS, PEERS } from "./peers.mjs";
import { TARGETS, ratioToOurs } from "./targets.mjs";
import { summary } from "./timing.mjs";

/** @typedef {import("./contest.mjs").Row} Row */
/** @typedef {import("./processes.mjs").Load} Load */
/** @typedef {{ decode: Row[], load: Load[] }} Figures */
/** `browser` is missing where it was not asked. @typedef {{ node: Figures, browser?: Figures }} Run */
/** @typedef {{ name: string, raw: number, gzip: number, brotli: number }} Size */

/** @param {Run[]} runs @param {{ header: string[], sizes: Size[], browser: string }} facts */
export function report(runs, { header, sizes, browser }) {
  const node = medians(runs.map((run) => run.node));
  const pages = runs.flatMap((run) => run.browser ?? []);
  const parts = [
    ...header,
    "## Targets",
    "How many times as long the other takes; \"at most\" tells how many times as long ours does. A peer that gives another text is not counted.",
    targets(runs.map((run) => run.node)),
    "## Decoding in Node",
    ...decoding(node.decode),
    "## Loading in Node",
    "From bytes in memory (streamed: from a path) until the first text, each in a fresh process; what importing costs is not " +
      "counted, except for libraries that have their vocabularies inside. Processor time of all threads; memory is the peak growth in the first load.",
    ...loading(node.load),
  ];
  if (pages.length > 0) {
    const { decode, load } = medians(pages);
    parts.push(`## The same in ${browser}`, ...decoding(decode), "Loading, each in a fresh page; streamed from a server on this machine.", ...loading(load));
  }
  parts.push("## Sizes", "What a page loads, in bytes. That of tiktoken has its vocabularies inside.", sizeTable(sizes));
  return `${parts.join("\n\n")}\n`;
}

/** One figure of each kind: the median of those of all runs. @param {Figures[]} figures @returns {Figures} */
function medians(figures) {
  const middle = (/** @type {number[]} */ numbers) => summary(numbers).ms;
  const decode = figures[0].decode.map((first) => {
    const same = figures.flatMap((run) => run.decode.filter((row) => isSame(row, first)));
    const isRight = same.every((row) => row.isRight);
    return { ...first, us: middle(same.map(({ us }) => us)), spread: middle(same.map(({ spread }) => spread)), isRight };
  });
  const load = figures[0].load.map((first) => {
    const same = figures.flatMap((run) => run.load.filter(({ tokenizer, way }) => tokenizer === first.tokenizer && way === first.way));
    const of = (/** @type {"cold" | "wall" | "warm" | "spread"} */ what) => middle(same.map((row) => row[what]));
    const grown = same.flatMap((row) => row.grown ?? []);
    const all = { ...first, cold: of("cold"), wall: of("wall"), warm: of("warm"), spread: of("spread") };
    return grown.length > 0 ? { ...all, grown: middle(grown) } : all;
  });
  return { decode, load };
}

/** @param {Row} a @param {Row} b */
function isSame(a, b) {
  return a.tokenizer === b.tokenizer && a.corpus === b.corpus && a.size === b.size && a.peer === b.peer;
}

/** Each target on the median of the runs' ratios. @param {Figures[]} runs */
function targets(runs) {
  const lines = TARGETS.flatMap(({ what, must, strive, unit, atMost = false, is }) => {
    const values = runs.flatMap((figures) => is(figures) ?? []);
    if (values.length === 0) return [];
    const value = summary(values).ms;
    const isMet = (/** @type {number} */ wanted) => (atMost ? value <= wanted : value >= wanted);
    const verdict = isMet(strive) ? "**as striven for**" : isMet(must) ? "met" : "missed";
    const word = atMost ? "at most " : "";
    const range = values.length > 1 ? `${digits(Math.min(...values))} to ${digits(Math.max(...values))}` : "";
    return [row([what, `${word}${must}${unit}`, `${word}${strive}${unit}`, `${digits(value)}${unit}`, range, verdict])];
  });
  return table(["what", "must be", "strive for", "is", "runs", ""], lines);
}

/** A table for every tokenizer and corpus. @param {Row[]} rows */
function decoding(rows) {
  return groups(rows, ({ tokenizer, corpus }) => `${TOKENIZERS[tokenizer].name}, ${corpus} text`).map(([title, own]) => {
    const sizes = [...new Set(own.map(({ size }) => size))];
    const lines = [...new Set(own.map(({ peer }) => peer))].map((peer) => {
      const cells = sizes.map((size) => cell(own, own.find((row) => row.peer === peer && row.size === size)));
      return row([peer === OURS ? `**${peer}**` : peer, ...cells]);
    });
    const noise = summary(own.map(({ spread }) => spread)).ms;
    const note = `Million ids a second, and in brackets how many times as long as ours it takes; ≠: another text. Quartiles of the rounds: ±${Math.round(noise * 100)} %.`;
    return `### ${title}\n\n${note}\n\n${table(["ids", ...sizes], lines)}`;
  });
}

/** @param {Row[]} rows @param {Row | undefined} own */
function cell(rows, own) {
  if (!own) return "";
  const speed = digits(own.ids / own.us);
  const ratio = own.peer === OURS ? undefined : ratioToOurs(rows, own);
  if (!own.isRight) return `${speed} ≠`;
  return ratio === undefined || own.peer === TEXT_DECODER ? speed : `${speed} (${digits(ratio)})`;
}

/** @param {Load[]} rows */
function loading(rows) {
  return groups(rows, ({ tokenizer }) => TOKENIZERS[tokenizer].name).map(([title, own]) => {
    const ours = own.find(({ way }) => way === OURS);
    const lines = own.map(({ way, cold, wall, warm, grown, spread }) => {
      const ratio = ours && way !== OURS ? `${digits(cold / ours.cold)}` : "";
      const cells = [digits(cold), spread > 0 ? `±${Math.round(spread * 100)} %` : "", ratio, digits(wall), digits(warm), grown === undefined ? "" : digits(grown)];
      return row([way.startsWith(OURS) ? `**${way}**` : way, ...cells]);
    });
    return `### ${title}\n\n${table(["", "cold, ms", "quartiles", "times as long as ours", "on the wall, ms", "warm, ms", "memory, MB"], lines)}`;
  });
}

/** @param {Size[]} sizes */
function sizeTable(sizes) {
  return table(["", "raw", "gzip", "brotli"], sizes.map(({ name, raw, gzip, brotli }) => row([name, raw, gzip, brotli].map((cell) => cell.toLocaleString("en")))));
}

/** @param {string[]} header @param {string[]} lines */
function table(header, lines) {
  return [row(header), row(header.map(() => "---")), ...lines].join("\n");
}

/** @template T @param {T[]} rows @param {(row: T) => string} title @returns {[string, T[]][]} */
function groups(rows, title) {
  /** @type {Map<string, T[]>} */
  const found = new Map();
  for (const one of rows) found.set(title(one), [...(found.get(title(one)) ?? []), one]);
  return [...found];
}

/** Three digits are more than the machine is worth. @param {number} value */
function digits(value) {
  if (value >= 100) return value.toFixed(0);
  return value.toFixed(value >= 10 ? 1 : 2);
}

/** The versions of the peers, for the header. @param {(name: string) => string} versionOf */
export function versions(versionOf) {
  return PEERS.flatMap((peer) => (peer.package ? `${peer.package} ${versionOf(peer.package)}` : [])).join(", ");
}
