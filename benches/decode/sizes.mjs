/** How much a page downloads: modules, tokenizers as they are and packed; raw, in gzip and in brotli. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { ROOT } from "../../scripts/lib.js";
import { TOKENIZERS, jsonPath, packedPath } from "./paths.mjs";
import { PEERS } from "./peers.mjs";

/** @typedef {import("./report.mjs").Size} Size */

/** Level 11 takes a minute for the largest tokenizer. */
const LEVEL_OF_VOCABULARIES = 9;

/** @returns {Size[]} */
export function measureSizes() {
  const modules = PEERS.flatMap(({ name, encodings, files = [] }) =>
    files.map((file) => sizeOf(`${name}: ${file.split("/").at(-1)}`, file, encodings ? LEVEL_OF_VOCABULARIES : 11)),
  );
  const tokenizers = Object.entries(TOKENIZERS).flatMap(([key, { name }]) => [
    sizeOf(`${name}: tokenizer.json`, jsonPath(key), LEVEL_OF_VOCABULARIES),
    sizeOf(`${name}, packed`, packedPath(key), LEVEL_OF_VOCABULARIES),
  ]);
  return [...modules, ...tokenizers];
}

/** @param {string} name @param {string} file @param {number} level @returns {Size} */
function sizeOf(name, file, level) {
  const bytes = readFileSync(join(ROOT, file));
  const params = { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return { name, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes, { params }).length };
}
