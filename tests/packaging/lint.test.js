/** What the linters of packages say of the tarball. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ROOT, TARBALL, freshProject, run } from "./support/project.js";

const ENTRIES = Object.keys(JSON.parse(readFileSync(join(ROOT, "pkg/package.json"), "utf8")).exports);

test("publint has nothing to say", async () => {
  assert.match(await run(freshProject(), "publint", ["run", TARBALL, "--strict"]), /All good!/);
});

test("attw finds the types of every entry, as ESM", async () => {
  const printed = await run(freshProject(), "attw", [TARBALL, "--profile", "esm-only", "--no-definitely-typed", "--format", "ascii"]);
  for (const resolution of ["node16 (from ESM)", "bundler"]) {
    assert.equal(printed.split(`${resolution}: 🟢`).length - 1, ENTRIES.length, `${resolution}\n${printed}`);
  }
});
