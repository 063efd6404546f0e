/**
 * What enriching a body costs beside `JSON.parse` and `JSON.stringify` of it, in one run; whether that grows as the body
 * does; and how much memory it takes.
 *
 *   make bench
 *
 * The bodies are made of recorded spans, the tokenizer is Qwen3's. Before anything is timed the texts are looked for in
 * the enriched body. "Parse" and "stringify" work on a string that is there already; a collector also has to make it of
 * bytes, and bytes of the result ("bytes to bytes"), as enriching does. A busy machine slows all; ratios are to be read.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { slim } from "../pkg/engines.js";
import { Enricher, Tokenizer } from "../pkg/node.js";
import { inTurn, row } from "./lib.mjs";
import { asJson, asLines, asMlflow, asOtlp, asProto, chats, longRecord, manyRecords } from "./spans.mjs";

const TOKENIZER = new URL("../.cache/tokenizers/qwen3/tokenizer.json", import.meta.url);
const KIB = 1024;
const MIB = 1024 * KIB;
const SPAN = 145 * KIB;
/** The bodies whose growth and memory are looked at. @type {Record<string, (bytes: number) => Uint8Array>} */
const GROWING = {
  "record, long spans": (bytes) => asLines(long(bytes)),
  "record, short spans": (bytes) => asLines(manyRecords(bytes)),
  "record, no ids": (bytes) => asLines(chats(bytes)),
  "OTLP JSON": (bytes) => asJson(asOtlp(long(bytes / 3.7))),
  "OTLP protobuf": (bytes) => asProto(asOtlp(long(bytes / 1.7))),
};

const tokenizer = Tokenizer.fromBytes(readFileSync(TOKENIZER));
const enricher = new Enricher(tokenizer);

if (process.argv[2] === "memory") memoryOnce(process.argv[3], Number(process.argv[4]));
else report();

function report() {
  console.log(`Node ${process.versions.node}, V8 ${process.versions.v8}, ${process.platform} ${process.arch}\n`);
  const [, , only, part = ""] = process.argv;
  if (!only || only === "time") times(part);
  if (!only || only === "growth") growth();
  if (!only || only === "space") memory();
}

/** So many bytes of spans as the long one. @param {number} bytes */
function long(bytes) {
  return Array.from({ length: Math.max(1, Math.round(bytes / SPAN)) }, (_, number) => longRecord(SPAN, number));
}

/**
 * What is enriched and what the peer parses (none: the same); how far ahead ours must be; the texts, and how often the body
 * has them as JSON in strings (-1: not as JSON at all).
 *
 * @typedef {{ name: string, body: Uint8Array, peer?: Uint8Array, least: number, texts?: string[], quoted?: number, withoutIds?: boolean }} Row
 */
/** Rows of the first table. @returns {Generator<Row>} */
function* bodies() {
  const span = [longRecord(SPAN)];
  const chat = chats(MIB);
  const [batch, short] = [long(16 * MIB), manyRecords(16 * MIB)];
  yield* forms("145 KiB span", span, 1);
  yield* forms("16 MiB batch", batch, 1);
  yield* forms("16 MiB of recorded calls", short, 1);
  yield { name: "1 MiB chats, record", body: asLines(chat), least: 1.5, withoutIds: true };
  yield { name: "1 MiB chats, OTLP JSON", body: asJson(asOtlp(chat, { inStrings: true })), least: 1.5, withoutIds: true };
}

/** One set of spans in all forms. @param {string} name @param {string[]} records @param {number} least @returns {Generator<Row>} */
function* forms(name, records, least) {
  const [typed, strings] = [asOtlp(records), asOtlp(records, { inStrings: true })];
  const texts = textsOf(records);
  yield { name: `${name}, record`, body: asLines(records), least, texts };
  yield { name: `${name}, MLflow`, body: asMlflow(records), least, texts, quoted: 1 };
  yield { name: `${name}, OTLP JSON`, body: asJson(typed), least, texts };
  yield { name: `${name}, OTLP JSON, JSON in strings`, body: asJson(strings), least, texts, quoted: 1 };
  yield { name: `${name}, protobuf`, body: asProto(typed), peer: asJson(typed), least: 3, texts, quoted: -1 };
  yield { name: `${name}, protobuf, JSON in strings`, body: asProto(strings), peer: asJson(strings), least: 3, texts, quoted: 0 };
}

/** What must stand in the enriched body. @param {string[]} records @returns {string[]} */
function textsOf(records) {
  return records.map((text) => {
    const { inputs, outputs } = JSON.parse(text);
    return tokenizer.decode(outputs.response_ids ?? outputs.token_ids ?? inputs.responses_ids);
  });
}

/** @param {string} part Of the names of the bodies that are timed. */
function times(part) {
  console.log(row(["body", "KiB", "enrich, ms", "parse", "parse + stringify", "bytes to bytes", "must be", "is"]));
  console.log(row(Array(8).fill("---")));
  for (const { name, body, peer = body, least, texts = [], quoted = 0, withoutIds = false } of bodies()) {
    if (!name.includes(part)) continue;
    verify(name, body, texts, quoted);
    const text = new TextDecoder().decode(peer);
    const lines = text.includes('}\n{"') ? text.trim().split("\n") : [text];
    const utf8 = new TextEncoder();
    const repeats = Math.max(1, Math.round((2 * MIB) / body.length));
    const times = inTurn(
      {
        enrich: () => enricher.enrichBody(body),
        parse: () => lines.forEach((line) => JSON.parse(line)),
        stringify: () => lines.map((line) => JSON.stringify(JSON.parse(line))),
        bytes: () => utf8.encode(new TextDecoder().decode(peer).trim().split("\n").map((line) => JSON.stringify(JSON.parse(line))).join("\n")),
      },
      { rounds: body.length > 4 * MIB ? 7 : 21, repeats, warmUp: body.length > 4 * MIB ? 1 : 5 },
    );
    const ratio = (withoutIds ? times.parse : times.stringify) / times.enrich;
    const cells = [name, Math.round(body.length / KIB), ...[times.enrich, times.parse, times.stringify, times.bytes].map((ms) => ms.toFixed(ms < 10 ? 2 : 1))];
    console.log(row([...cells, `${least}x ${withoutIds ? "parse" : "parse + stringify"}`, verdict(`${ratio.toFixed(2)}x`, ratio >= least)]));
  }
  console.log();
}

/**
 * Looks for the texts, escaped as often as the body is JSON in strings (-1: in protocol buffers, as they are).
 *
 * @param {string} name @param {Uint8Array} body @param {string[]} texts @param {number} quoted
 */
function verify(name, body, texts, quoted) {
  const { body: enriched, report } = enricher.enrichBody(body);
  const bytes = Buffer.from(enriched);
  if (texts.length === 0 && !bytes.equals(body)) throw new Error(`${name}: something was written`);
  if (report.totals.decoded < texts.length || report.totals.skipped > 0) throw new Error(`${name}: ${JSON.stringify(report.totals)}`);
  let at = 0;
  for (const text of texts) {
    let wanted = text;
    for (let i = 0; i <= quoted; i++) wanted = JSON.stringify(wanted).slice(1, -1);
    at = bytes.indexOf(wanted, at);
    if (at < 0) throw new Error(`${name}: a text is not there: ${text.slice(0, 80)}`);
  }
}

/** Milliseconds a MiB from 1 to 64 MiB. */
function growth() {
  const sizes = [1, 4, 16, 63];
  console.log(row(["ms for each MiB of a body of", ...sizes.map((size) => `${size} MiB`), "must be", "is"]));
  console.log(row(Array(sizes.length + 3).fill("---")));
  for (const [name, make] of Object.entries(GROWING)) {
    const each = sizes.map((size) => {
      const body = make(size * MIB);
      const { enrich } = inTurn({ enrich: () => enricher.enrichBody(body) }, { rounds: size > 16 ? 3 : 7, warmUp: 1 });
      return (enrich * MIB) / body.length;
    });
    const ratio = each[each.length - 1] / each[0];
    console.log(row([name, ...each.map((ms) => ms.toFixed(2)), "at most 1.3x", verdict(`${ratio.toFixed(2)}x`, ratio <= 1.3)]));
  }
  console.log();
}

/** Memory, each size in a process of its own. */
function memory() {
  console.log(row(["body", "MiB in + out", "WebAssembly grows by", "with the bodies outside", "must be", "is"]));
  console.log(row(Array(6).fill("---")));
  for (const name of Object.keys(GROWING)) {
    for (const size of [1, 16, 63]) {
      const args = [fileURLToPath(import.meta.url), "memory", name, String(size)];
      const { bodies, grown } = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
      const ratio = (grown + bodies) / bodies;
      const cells = [bodies, grown, grown + bodies].map((bytes) => (bytes / MIB).toFixed(1));
      console.log(row([`${name}, ${size} MiB`, ...cells, "at most 3x", verdict(`${ratio.toFixed(2)}x`, ratio <= 3)]));
    }
  }
  console.log();
}

/** In a process of its own. @param {string} name @param {number} size */
function memoryOnce(name, size) {
  const body = GROWING[name](size * MIB);
  const before = slim().memory.buffer.byteLength;
  const { body: enriched } = enricher.enrichBody(body);
  console.log(JSON.stringify({ bodies: body.length + enriched.length, grown: slim().memory.buffer.byteLength - before }));
}

/** @param {string} value @param {boolean} isOk */
function verdict(value, isOk) {
  return `${value} ${isOk ? "ok" : "missed"}`;
}
