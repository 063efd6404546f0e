/** How much a page downloads: modules, tokenizers as they are and packed; raw, in gzip and in brotli. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { ROOT } from "../../scripts/lib.js";
import { TOKENIZERS, jsonPath, packedPath } from "./paths.mjs";
import { PEERS } from "./peers.mjs";

/** @typedef {import("./report.mjs").Size} Size */

/** Of brotli: of more than 5 MB another, since the highest takes up to a minute. */
const LEVEL = 11;
const LEVEL_OF_LARGE = 9;
const LARGE = 5e6;

/** @returns {Size[]} */
export function measureSizes() {
  const modules = PEERS.flatMap(({ name, files = [] }) => files.map((file) => sizeOf(`${name}: ${file.split("/").at(-1)}`, file)));
  const tokenizers = Object.entries(TOKENIZERS).flatMap(([key, { name }]) => [
    sizeOf(`${name}: tokenizer.json`, jsonPath(key)),
    sizeOf(`${name}, packed`, packedPath(key)),
  ]);
  return [...modules, ...tokenizers];
}

/** @param {string} name @param {string} file @returns {Size} */
function sizeOf(name, file) {
  const bytes = readFileSync(join(ROOT, file));
  const level = bytes.length > LARGE ? LEVEL_OF_LARGE : LEVEL;
  const params = { [constants.BROTLI_PARAM_QUALITY]: level, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return { name, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes, { params }).length };
}
