/** A tokenizer that is loaded at once, for tests that look at no texts. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** @param {string} folder @returns {string} The path of its file. */
export function tinyTokenizer(folder) {
  const file = join(folder, "tokenizer.json");
  writeFileSync(file, JSON.stringify({ added_tokens: [], decoder: { type: "Fuse" }, model: { type: "WordLevel", unk_token: "a", vocab: { a: 0, b: 1 } } }));
  return file;
}
