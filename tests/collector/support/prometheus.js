/** Text for Prometheus, read by Prometheus' own Python client. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const SCRIPT = `
import json, math, sys
from prometheus_client.parser import text_string_to_metric_families
families = text_string_to_metric_families(sys.stdin.read())
json.dump([{"name": f.name, "type": f.type, "help": f.documentation, "samples": [[s.name, s.labels, s.value if math.isfinite(s.value) else None] for s in f.samples]} for f in families], sys.stdout)
`;

/**
 * @typedef {object} Family
 * @property {string} name Of counters without \`_total\`.
 * @property {string} type
 * @property {string} help
 * @property {[name: string, labels: Record<string, string>, value: number][]} samples
 */

/** @param {string} text @returns {Family[]} */
export function parseMetrics(text) {
  const python = execFileSync("scripts/venv.sh", ["prometheus"], { cwd: ROOT, encoding: "utf8" }).trim();
  return JSON.parse(execFileSync(python, ["-c", SCRIPT], { cwd: ROOT, input: text, encoding: "utf8" }));
}

/**
 * The value of one sample; undefined if there is none.
 *
 * @param {Family[]} families
 * @param {string} name
 * @param {Record<string, string>} [labels] All of them.
 */
export function sample(families, name, labels = {}) {
  const same = (/** @type {Record<string, string>} */ other) => Object.keys(other).length === Object.keys(labels).length && Object.entries(labels).every(([key, value]) => other[key] === value);
  const found = families.flatMap(({ samples }) => samples).filter(([other, has]) => other === name && same(has));
  return found.length === 1 ? found[0][2] : undefined;
}
