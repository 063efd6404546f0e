/** README.md's table of the features of verl's rollout trace. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const ROOT = new URL("../../", import.meta.url);
const table = readFileSync(new URL("README.md", ROOT), "utf8").match(/<!-- rollout-trace -->\n([^]*?)<!-- \/rollout-trace -->/)?.[1] ?? "";
const rows = table.trim().split("\n").slice(2).map((line) => line.slice(2, -2).split(" | "));

/** The names of the tests of a file, as patterns: some are made of parts. @param {string} file */
function testsOf(file) {
  const calls = readFileSync(new URL(file, ROOT), "utf8").matchAll(/^ *test\((["`])(.*?)\1, /gm);
  const escaped = [...calls].map(([, , name]) => name.split(/\$\{\w+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")));
  return escaped.map((parts) => new RegExp(`^${parts.join(".+")}$`));
}

test("every feature of verl's rollout trace has an answer, and a test that there is", () => {
  assert.ok(rows.length > 30);
  for (const row of rows) {
    assert.equal(row.length, 3, row.join(" | "));
    assert.ok(row.every((cell) => cell.trim() !== ""), row.join(" | "));
    const [, name, file] = row[2].match(/^\[(.*)\]\((.*)\)$/) ?? assert.fail(row[2]);
    assert.ok(testsOf(file).some((pattern) => pattern.test(name)), `${file} has no test "${name}"`);
  }
});
