/** The figures of one or more runs in Markdown: a section for each question. */
import { TOKENIZERS } from "./paths.mjs";
import { OURS } from "./peers.mjs";
import { digits, distinct, groups, table } from "./tables.mjs";
import { TARGETS, ratioToOurs } from "./targets.mjs";
import { summary } from "./timing.mjs";

/** @typedef {import("./contest.mjs").Row} Row */
/** @typedef {import("./contest.mjs").Fault} Fault */
/** @typedef {import("./contest.mjs").Outcome} Outcome */
/** @typedef {import("./processes.mjs").Load} Load */
/** @typedef {Outcome & { load: Load[] }} Figures */
/** What was not asked is missing. @typedef {{ node: Figures, browser?: Figures, native?: Outcome }} Run */
/** @typedef {{ name: string, raw: number, gzip: number, brotli: number }} Size */
/** What is said of the figures. @typedef {{ header: string[], sizes: Size[], browser: string }} Facts */

/** @param {Run[]} runs @param {Facts} facts */
export function report(runs, { header, sizes, browser }) {
  const node = medians(runs.map((run) => run.node));
  const pages = runs.flatMap((run) => run.browser ?? []);
  const rust = runs.flatMap((run) => (run.native ? { ...run.native, load: [] } : []));
  const page = pages.length > 0 ? medians(pages) : undefined;
  const native = rust.length > 0 ? medians(rust) : undefined;
  const faults = [...place("Node, Python", node.faults), ...place("Chromium", page?.faults), ...place("Rust", native?.faults)];
  const sections = [
    section("Targets", [
      "How many times as long the other takes; at most: how many times as long ours takes. A peer that gives another text counts too.",
      targets(runs.map((run) => run.node)),
    ]),
    section("Who gives another text?", [differing(faults)]),
  ];
  const decodes =
    "For ours, how many million ids it decodes in a second; for everyone else, how many times as long as ours it takes. " +
    "≠: another text for some lists.";
  const loads =
    "Each in a fresh process, its library started before, from bytes in memory (streamed: from a path) until the first text. What " +
    "has its vocabulary inside is started within. Warm: once more in the same process. Memory: by how much the first load makes " +
    "it grow at most.";
  if (node.decode.length > 0) sections.push(section("How fast does it decode?", [decodes, ...decoding(node.decode)]));
  if (node.load.length > 0) sections.push(section("How fast does it load, and in how much memory?", [loads, ...loading(node.load)]));
  if (page) {
    const pages = "By the clock on the wall; each load in a fresh page, streamed from a server on this machine.";
    sections.push(section(`The same in ${browser}`, [pages, ...decoding(page.decode), ...loading(page.load)]));
  }
  if (native) {
    const rust = "By criterion, one after the other, by the clock on the wall; a String of each list.";
    sections.push(section("How fast is the crate beside others in Rust?", [rust, ...decoding(native.decode)]));
  }
  if (sizes.length > 0) {
    const bytes =
      "Bytes; brotli at level 11, of more than 5 MB at level 9. gpt-tokenizer, ai-tokenizer and tiktoken have their vocabularies inside.";
    sections.push(section("How much is there to download?", [bytes, sizeTable(sizes)]));
  }
  return `${[...header, ...sections].join("\n\n")}\n`;
}

/** @param {string} title @param {string[]} parts */
function section(title, parts) {
  return [`## ${title}`, ...parts].join("\n\n");
}

/** @param {string} where @param {Fault[]} [faults] */
function place(where, faults = []) {
  return faults.map((fault) => ({ ...fault, where }));
}

/** One figure of each kind: the median of those of all runs. @param {Figures[]} figures @returns {Figures} */
function medians(figures) {
  const decode = groups(figures.flatMap((run) => run.decode), nameOf).map(([, same]) => {
    const of = (/** @type {"us" | "spread"} */ what) => summary(same.map((row) => row[what])).ms;
    return { ...same[0], us: of("us"), spread: of("spread"), isRight: same.every((row) => row.isRight) };
  });
  const load = groups(figures.flatMap((run) => run.load), ({ tokenizer, way }) => `${tokenizer} ${way}`).map(([, same]) => {
    const of = (/** @type {"cold" | "warm" | "grown"} */ what) => summary(same.flatMap((one) => one[what] ?? [])).ms;
    return { ...same[0], cold: of("cold"), warm: of("warm"), ...(same[0].grown === undefined ? {} : { grown: of("grown") }) };
  });
  const faults = groups(figures.flatMap((run) => run.faults), (fault) => JSON.stringify(fault)).map(([, same]) => same[0]);
  return { decode, load, faults };
}

/** @param {Row} row */
function nameOf({ tokenizer, corpus, size, peer }) {
  return [tokenizer, corpus, size, peer].join();
}

/** Each target on the median of the runs' ratios. @param {Figures[]} runs */
function targets(runs) {
  const lines = TARGETS.flatMap(({ what, must, strive, unit, atMost = false, is }) => {
    const values = runs.flatMap((figures) => is(figures) ?? []);
    if (values.length === 0) return [];
    const value = summary(values).ms;
    const meets = (/** @type {number} */ wanted) => (atMost ? value <= wanted : value >= wanted);
    const verdict = meets(strive) ? "**ok, as striven for**" : meets(must) ? "ok" : "missed";
    const word = atMost ? "at most " : "";
    const range = values.length > 1 ? `${digits(Math.min(...values))} to ${digits(Math.max(...values))}` : "";
    return [[what, `${word}${must}${unit}`, `${word}${strive}${unit}`, `${digits(value)}${unit}`, range, verdict]];
  });
  return table(["what", "must be", "strive for", "is", "runs", ""], lines);
}

/** @param {(Fault & { where: string })[]} faults */
function differing(faults) {
  if (faults.length === 0) return "Nobody.";
  const lines = groups(faults, ({ where, peer, tokenizer, what }) => [where, peer, tokenizer, what].join()).map(([, same]) => {
    const [{ where, peer, tokenizer, what }] = same;
    const corpora = groups(same.filter(({ corpus }) => corpus), ({ corpus = "" }) => corpus);
    const lists = corpora.map(([corpus, own]) => `${corpus}: ${own.map(({ size }) => size).join(", ")}`);
    return [where, peer, TOKENIZERS[tokenizer].name, what, lists.join("; ")];
  });
  return table(["in", "who", "tokenizer", "what", "ids"], lines);
}

/** A table for every tokenizer and corpus. @param {Row[]} rows */
function decoding(rows) {
  return groups(rows, ({ tokenizer, corpus }) => `${TOKENIZERS[tokenizer].name}, ${corpus} text`).map(([title, own]) => {
    const sizes = distinct(own.map(({ size }) => size));
    const isOurs = (/** @type {string} */ peer) => Number(peer === OURS);
    const peers = distinct(own.map(({ peer }) => peer)).sort((a, b) => isOurs(b) - isOurs(a));
    const lines = peers.map((peer) => {
      const cells = sizes.map((size) => cell(own, own.find((row) => row.peer === peer && row.size === size)));
      return [peer === OURS ? `**${peer}**` : peer, ...cells];
    });
    const noise = summary(own.map(({ spread }) => spread)).ms;
    return `### ${title}\n\n${table([`ids (quartiles ±${Math.round(noise * 100)} %)`, ...sizes], lines)}`;
  });
}

/** @param {Row[]} rows @param {Row | undefined} own */
function cell(rows, own) {
  if (!own) return "";
  const mark = own.isRight ? "" : " ≠";
  if (own.peer === OURS) return `**${digits(own.ids / own.us)} M/s**${mark}`;
  const ratio = ratioToOurs(rows, own);
  return ratio === undefined ? mark : `${digits(ratio)}x${mark}`;
}

/** A table for each figure of a load, with a column for every tokenizer. @param {Load[]} rows */
function loading(rows) {
  const keys = distinct(rows.map(({ tokenizer }) => tokenizer));
  return /** @type {const} */ (["cold", "warm", "grown"]).flatMap((what) => {
    const known = rows.filter((row) => row[what] !== undefined);
    const lines = distinct(known.map(({ way }) => way)).map((way) => {
      const own = keys.map((key) => known.find((row) => row.way === way && row.tokenizer === key));
      return [way.startsWith(OURS) ? `**${way}**` : way, ...own.map((row) => (row ? loadCell(known, row, what) : ""))];
    });
    const title = { cold: "Cold", warm: "Warm", grown: "Memory" }[what];
    return lines.length > 0 ? [`### ${title}\n\n${table(["", ...keys.map((key) => TOKENIZERS[key].name)], lines)}`] : [];
  });
}

/** Times of others as ratios to ours. @param {Load[]} rows @param {Load} row @param {"cold" | "warm" | "grown"} what */
function loadCell(rows, row, what) {
  const value = row[what] ?? 0;
  const absolute = `${digits(value)} ${what === "grown" ? "MB" : "ms"}`;
  const ours = rows.find(({ tokenizer, way }) => tokenizer === row.tokenizer && way === OURS)?.[what];
  if (what === "grown" || !ours || row.way === OURS) return absolute;
  return `${digits(value / ours)}x`;
}

/** @param {Size[]} sizes */
function sizeTable(sizes) {
  const lines = sizes.map(({ name, raw, gzip, brotli }) => [name, ...[raw, gzip, brotli].map((bytes) => bytes.toLocaleString("en"))]);
  return table(["", "raw", "gzip", "brotli"], lines);
}
