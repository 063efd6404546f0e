/**
 * Writes the table of producers into README.md, from src/layouts/builtin.json and the names in producers.json beside it.
 *
 *   node scripts/producers.js            writes it
 *   node scripts/producers.js --check    fails if it is not what stands there
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, fail, writeTable } from "./lib.js";

/** @typedef {{ kind: "prompt" | "response", ids: string | string[], select?: Record<string, unknown>, mask?: string, logprobs?: string }} Field */
/** @typedef {{ name: string, each?: string, fields: Field[] }} Layout */

/** @param {string} file */
const json = (file) => JSON.parse(readFileSync(join(ROOT, "src/layouts", file), "utf8"));

/** @param {string[]} names */
const listed = (names) => [...new Set(names)].map((name) => `\`${name}\``).join(", ");

/**
 * Where some layouts look for ids first, without the `/output` that a record of the fields alone has not; JSON inside
 * strings is left out.
 *
 * @param {Layout[]} layouts
 * @param {string} kind
 */
function places(layouts, kind) {
  const pointers = layouts.flatMap(({ each = "", fields }) =>
    fields.filter((field) => field.kind === kind).map((field) => each + [field.ids].flat()[0]),
  );
  const inPlain = pointers.filter((pointer) => !pointer.includes("/!json"));
  return listed(inPlain.map((pointer) => pointer.replace(/^\/output\/(?![*0])/, "/")));
}

/** The keys of what goes with the ids: what selects them, masks, log-probabilities. @param {Layout[]} layouts */
function companions(layouts) {
  const pointers = layouts.flatMap(({ fields }) => fields.flatMap(({ select, mask, logprobs }) => [...Object.values(select ?? {}), mask, logprobs]));
  const isKey = (/** @type {string} */ step) => !/^(\*|!.*|\d+)$/.test(step);
  return listed(pointers.flatMap((pointer) => (typeof pointer === "string" ? (pointer.split("/").findLast(isKey) ?? []) : [])));
}

function table() {
  /** @type {Layout[]} */
  const layouts = json("builtin.json");
  const rows = json("producers.json").map((/** @type {{ layout: string, producer: string }} */ { layout, producer }) => {
    const own = layouts.filter(({ name }) => name === layout);
    if (own.length === 0) fail(`producers.json names the layout ${layout}, which builtin.json does not have`);
    return `| \`${layout}\` | ${producer} | ${places(own, "prompt")} | ${places(own, "response")} | ${companions(own)} |`;
  });
  const missing = layouts.filter(({ name }) => !rows.some((/** @type {string} */ row) => row.startsWith(`| \`${name}\` |`)));
  if (missing.length > 0) fail(`producers.json has no row for ${missing[0]?.name}`);
  return `| layout | producer | prompt ids | response ids | with them |\n|---|---|---|---|---|\n${rows.join("\n")}\n`;
}

writeTable("producers", table());
