/** Recorded bodies, and requests of OTLP made by hand. */
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { fetchTokenizer } from "../../../scripts/fetch-tokenizer.js";
import { Enricher, Tokenizer } from "../../../pkg/node.js";
import { requestOf } from "../../../pkg/exporters/otlp-request.js";
import { bytesField, concat, fixed64Field, textField, varintField } from "../../../pkg/exporters/wire.js";

const WIRE = fileURLToPath(new URL("../../fixtures/wire/mlflow/", import.meta.url));

/** What verl and MLflow's client have sent, in order. @param {string} capture */
export function recorded(capture) {
  const files = readdirSync(join(WIRE, capture)).filter((name) => name.endsWith(".pb")).sort();
  return files.map((name) => readFileSync(join(WIRE, capture, name)));
}

/** @param {string} path @returns {any} */
export function recordedJson(path) {
  return JSON.parse(readFileSync(join(WIRE, path), "utf8"));
}

export const tokenizerFolder = fetchTokenizer("qwen3");

export async function qwen3() {
  return new Enricher(await Tokenizer.load(join(tokenizerFolder, "tokenizer.json")));
}

/** Nanoseconds that no double holds. */
export const START = 1795959821228781779n;

/**
 * @typedef {object} Handmade
 * @property {string} [trace] 32 hexadecimal digits.
 * @property {string} span 16 of them; `""` is refused by servers.
 * @property {string} [parent]
 * @property {string} [name]
 * @property {bigint} [start]
 * @property {Record<string, string | bigint | boolean | number | Uint8Array>} [attributes] Bytes are a message of a value.
 * @property {Uint8Array[]} [more] Fields.
 */

/** @param {Handmade} span */
export function spanBytes({ trace = "5b8efff798038103d269b633813fc60c", span, parent, name = "generate", start = START, attributes = {}, more = [] }) {
  return concat([
    bytesField(1, Buffer.from(trace, "hex")),
    bytesField(2, Buffer.from(span, "hex")),
    ...(parent ? [bytesField(4, Buffer.from(parent, "hex"))] : []),
    textField(5, name),
    fixed64Field(7, start),
    fixed64Field(8, start + 5_000_001n),
    ...Object.entries(attributes).map(([key, value]) => bytesField(9, keyValue(key, value))),
    ...more,
    bytesField(15, varintField(3, 1n)),
  ]);
}

/** @param {string} key @param {string | bigint | boolean | number | Uint8Array} value */
export function keyValue(key, value) {
  return [textField(1, key), bytesField(2, anyValue(value))];
}

/** @param {string | bigint | boolean | number | Uint8Array} value */
function anyValue(value) {
  if (value instanceof Uint8Array) return value;
  if (typeof value === "string") return textField(1, value);
  if (typeof value === "boolean") return varintField(2, value ? 1n : 0n);
  if (typeof value === "bigint") return varintField(3, value);
  const bytes = new Uint8Array(9);
  bytes[0] = (4 << 3) | 1;
  new DataView(bytes.buffer).setFloat64(1, value, true);
  return bytes;
}

/** @param {...Handmade} spans */
export function request(...spans) {
  return requestOf(spans.map(spanBytes));
}

/** A random id. @param {number} bytes */
export function freshId(bytes) {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
}
