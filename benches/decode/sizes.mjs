/** How much a page loads: modules and packed tokenizers; raw, in gzip and in brotli. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { ROOT } from "../../scripts/lib.js";
import { TOKENIZERS, packedPath } from "./paths.mjs";
import { PEERS } from "./peers.mjs";

/** @type {import("./report.mjs").Size[] | undefined} */
let known;

/** @returns {import("./report.mjs").Size[]} */
export function sizes() {
  return (known ??= measure());
}

function measure() {
  const modules = PEERS.flatMap(({ name, files = [] }) => files.map((file) => ({ name: `${name}: ${file.split("/").at(-1)}`, file })));
  const files = Object.entries(TOKENIZERS).map(([key, { name }]) => ({ name: `${name}, packed`, file: packedPath(key) }));
  return [...modules, ...files].map(({ name, file }) => {
    const bytes = readFileSync(join(ROOT, file));
    return { name, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length, brotli: brotliCompressSync(bytes).length };
  });
}
