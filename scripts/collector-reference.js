/**
 * Writes the tables of options and of metrics into the collector's README, from the tables in its code.
 *
 *   node scripts/collector-reference.js            writes them
 *   node scripts/collector-reference.js --check    fails if they are not what stands there
 */
import { flagOf, keyOf, optionsOf, variableOf } from "../collector/src/configuration/options.js";
import { QUEUE_NAMES } from "../collector/src/configuration/queue.js";
import { defaultOf } from "../collector/src/configuration/show.js";
import { BACKENDS, EXPORT_OPTIONS, exportNames } from "../collector/src/configuration/targets.js";
import { COUNTERS, GAUGES, HISTOGRAMS } from "../collector/src/operations/metrics.js";
import { writeTable } from "./lib.js";

const FILE = { readme: "collector/README.md", script: "collector-reference" };
const code = (/** @type {string} */ text) => `\`${text}\``;
const cell = (/** @type {string} */ text) => text.replaceAll("|", "\\|");

const options = optionsOf({}).map((option) => {
  const { kind, isList, help } = option;
  const value = kind.placeholder === "" ? "" : ` ${kind.placeholder}`;
  const more = `${kind.expected ? `: ${kind.expected}` : ""}${isList ? "; may be repeated" : ""}`;
  return [code(`${flagOf(option)}${value}`), code(variableOf(option)), code(keyOf(option)), help + more, defaultOf(option) ?? ""];
});
const metrics = Object.entries({ counter: COUNTERS, histogram: HISTOGRAMS, gauge: GAUGES }).flatMap(([type, table]) =>
  Object.values(table).map(({ name, help, labels }) => [code(name), type, labels.map(code).join(", "), help]),
);

const exports = BACKENDS.map((backend) => {
  const names = exportNames(backend).map((name) => code(name) + (EXPORT_OPTIONS[backend][name]?.isNeeded ? " (needed)" : ""));
  return [code(backend), names.join(", ")];
});

writeTable("exports", tableOf(["backend", "names"], exports), FILE);
writeTable("queue", `${QUEUE_NAMES.map(code).join(", ")}.\n`, FILE);
writeTable("options", tableOf(["flag", "variable", "in the file", "what it does", "default"], options), FILE);
writeTable("metrics", tableOf(["metric", "type", "labels", "what it counts"], metrics), FILE);

/** @param {string[]} head @param {string[][]} rows */
function tableOf(head, rows) {
  return [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |\n`).join("");
}
