/** Folders that go when the tests of a file have ended. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after } from "node:test";

/** @returns {string} */
export function freshFolder() {
  const folder = mkdtempSync(join(tmpdir(), "token2text-collector-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
