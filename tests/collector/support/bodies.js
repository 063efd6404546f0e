/** Recorded bodies of every backend, and what must become of them. */
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Enricher, Tokenizer } from "../../../pkg/node.js";
import { fetchTokenizer } from "../../../scripts/fetch-tokenizer.js";

const FIXTURES = fileURLToPath(new URL("../../fixtures", import.meta.url));
/** @typedef {{ name: string, body: Uint8Array, contentType?: string, url: string }} Recorded */

/** All recorded bodies, with what their requests said of them. @returns {Recorded[]} */
export function recordedBodies() {
  return ["captures", "wire/mlflow", "wire/otlp"].flatMap((place) => {
    const names = readdirSync(join(FIXTURES, place)).filter((name) => existsSync(join(FIXTURES, place, name, "meta.json")));
    return names.flatMap((name) => bodiesOf(join(place, name)));
  });
}

/** @param {string} folder */
function bodiesOf(folder) {
  const { files } = JSON.parse(readFileSync(join(FIXTURES, folder, "meta.json"), "utf8"));
  return files.map((/** @type {any} */ { file, path, content_type }) => ({
    name: join(folder, file),
    body: readFileSync(join(FIXTURES, folder, file)),
    contentType: content_type ?? undefined,
    url: path ?? `/${file}`,
  }));
}

/** One of them. @param {string} name @returns {Recorded} */
export function recorded(name) {
  const found = recordedBodies().find((candidate) => candidate.name.endsWith(name));
  if (!found) throw new Error(`there is no recorded body ${name}`);
  return found;
}

/** What token2text itself makes of bodies. @param {string} key Of a tokenizer. */
export function enricherOf(key) {
  return new Enricher(Tokenizer.fromBytes(readFileSync(join(fetchTokenizer(key), "tokenizer.json"))), { messages: true });
}

/** JSON lines of records with a million ids each, of 4 bytes. @param {number} records */
export function bigBody(records) {
  const record = `{"output":{"response_ids":[${"872,".repeat(999_999)}872]}}\n`;
  return Buffer.from(record.repeat(records));
}

/** Numbers that are the same in every run. @param {number} seed */
export function numbers(seed) {
  let state = BigInt(seed);
  return (/** @type {number} */ below) => {
    state = BigInt.asUintN(64, state * 6364136223846793005n + 1442695040888963407n);
    return Number(state >> 33n) % below;
  };
}
