/**
 * Writes the table of formats into README.md, from src/formats/formats.json, which a test of the detection holds to its tables.
 *
 *   node scripts/formats.js            writes it
 *   node scripts/formats.js --check    fails if it is not what stands there
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, writeTable } from "./lib.js";

/** @typedef {{ rule: string, has?: string[], key?: string, inside?: boolean }} Sign */
/** @typedef {{ format: string, bodies: string, told?: string, signs: Sign[], urls: string[], contentTypes: string[] }} Format */

/** @type {Format[]} */
const formats = JSON.parse(readFileSync(join(ROOT, "src/formats/formats.json"), "utf8"));

const code = (/** @type {string} */ text) => `\`${text}\``;

/** What must be there: members by their place, or a key of what holds spans or of a span. @param {Sign} sign */
function words({ has, key, inside }) {
  if (has) return has.map(code).join(" with ");
  return `${code(key ?? "")}${inside ? " inside" : ""}`;
}

const rows = formats.map(({ format, bodies, told, signs, urls, contentTypes }) => {
  const content = told ?? [...new Set(signs.map(words))].join("; ");
  return `| ${code(format)} | ${bodies} | ${content} | ${urls.map(code).join(", ")} | ${contentTypes.map(code).join(", ")} |`;
});
writeTable("formats", `| format | bodies | told by its content | by how a URL ends | by a content type |\n|---|---|---|---|---|\n${rows.join("\n")}\n`);
