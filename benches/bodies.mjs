/**
 * What enriching a body costs beside `JSON.parse` and `JSON.stringify` of it, in one run; whether that grows as the body
 * does; and how much memory it takes.
 *
 *   make bench
 *   node benches/bodies.mjs [time | growth | space] [part of the names of bodies] [--quick]
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

const isQuick = process.argv.includes("--quick");
const [only, part = "", size] = process.argv.slice(2).filter((word) => word !== "--quick");
if (only === "memory") memoryOnce(part, Number(size));
else report();

function report() {
  console.log(`Node ${process.versions.node}, V8 ${process.versions.v8}, ${process.platform} ${process.arch}\n`);
  if (!only || only === "time") times();
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
 * @typedef {{ body: Uint8Array, peer?: Uint8Array, least: number, texts?: string[], quoted?: number, withoutIds?: boolean }} Row
 */
/** Rows of the first table, made when their turn comes. @returns {{ name: string, make: () => Row }[]} */
function bodies() {
  const chat = () => chats(MIB);
  return [
    ...forms("145 KiB span", () => [longRecord(SPAN)]),
    ...forms("16 MiB batch", () => long(16 * MIB)),
    ...forms("16 MiB of recorded calls", () => manyRecords(16 * MIB)),
    { name: "1 MiB chats, record", make: () => ({ body: asLines(chat()), least: 1.5, withoutIds: true }) },
    {
      name: "1 MiB chats, OTLP JSON, JSON in strings",
      make: () => ({ body: asJson(asOtlp(chat(), { inStrings: true })), least: 1.5, withoutIds: true, quoted: 1 }),
    },
  ];
}

/** One set of spans in all forms. @param {string} name @param {() => string[]} make @returns {{ name: string, make: () => Row }[]} */
function forms(name, make) {
  /** @type {(form: string, body: (records: string[]) => Omit<Row, "texts">) => { name: string, make: () => Row }} */
  const form = (form, body) => {
    const row = () => {
      const records = make();
      return { ...body(records), texts: textsOf(records) };
    };
    return { name: `${name}, ${form}`, make: row };
  };
  const proto = (/** @type {any} */ request) => ({ body: asProto(request), peer: asJson(request), least: 3 });
  return [
    form("record", (records) => ({ body: asLines(records), least: 1 })),
    form("MLflow", (records) => ({ body: asMlflow(records), least: 1, quoted: 1 })),
    form("OTLP JSON", (records) => ({ body: asJson(asOtlp(records)), least: 1 })),
    form("OTLP JSON, JSON in strings", (records) => ({ body: asJson(asOtlp(records, { inStrings: true })), least: 1, quoted: 1 })),
    form("protobuf", (records) => ({ ...proto(asOtlp(records)), quoted: -1 })),
    form("protobuf, JSON in strings", (records) => ({ ...proto(asOtlp(records, { inStrings: true })), quoted: 0 })),
  ];
}

/** What must stand in the enriched body. @param {string[]} records @returns {string[]} */
function textsOf(records) {
  return records.map((text) => {
    const { inputs, outputs } = JSON.parse(text);
    return tokenizer.decode(outputs.response_ids ?? outputs.token_ids ?? inputs.responses_ids);
  });
}

/**
 * The peer does what a collector in JavaScript must to add a text: it parses and writes again. Where the ids are JSON in
 * strings, those strings too ("with the inside"); what counts is that.
 */
function times() {
  const inner = ["inside parsed", "inside parsed + stringified"];
  console.log(row(["body", "KiB", "enrich, ms", "parse", "parse + stringify", ...inner, "bytes to bytes", "must be", "is"]));
  console.log(row(Array(10).fill("---")));
  for (const { name, make } of bodies()) {
    if (!name.includes(part)) continue;
    const { body, peer = body, least, texts = [], quoted = 0, withoutIds = false } = make();
    verify(name, body, texts, quoted);
    const text = new TextDecoder().decode(peer);
    const lines = text.includes('}\n{"') ? text.trim().split("\n") : [text];
    const utf8 = new TextEncoder();
    const repeats = Math.max(1, Math.round((2 * MIB) / body.length));
    const parse = (/** @type {string} */ line) => parseInside(JSON.parse(line));
    const again = (/** @type {string} */ line) => JSON.stringify(stringifyInside(parse(line)));
    const isLarge = body.length > 4 * MIB;
    const times = inTurn(
      {
        enrich: () => enricher.enrichBody(body),
        parse: () => lines.forEach((line) => JSON.parse(line)),
        stringify: () => lines.map((line) => JSON.stringify(JSON.parse(line))),
        parseInside: () => lines.forEach(parse),
        stringifyInside: () => lines.map(again),
        bytes: () => utf8.encode(new TextDecoder().decode(peer).trim().split("\n").map(again).join("\n")),
      },
      { rounds: isQuick ? 5 : isLarge ? 7 : 21, repeats, warmUp: isLarge ? 1 : 5 },
    );
    const ratio = (withoutIds ? times.parseInside : times.stringifyInside) / times.enrich;
    const cells = [name, Math.round(body.length / KIB), ...Object.values(times).map((ms) => ms.toFixed(ms < 10 ? 2 : 1))];
    const peers = withoutIds ? "parse" : "parse + stringify";
    console.log(row([...cells, `${least}x ${peers}`, verdict(`${ratio.toFixed(2)}x`, ratio >= least)]));
  }
  console.log();
}

/** The strings of a body that hold the inputs and outputs as JSON: each with what holds it. @param {any} body @returns {[any, string][]} */
function insides(body) {
  if (body.resourceSpans) {
    const spans = body.resourceSpans.flatMap((/** @type {any} */ { scopeSpans }) => scopeSpans).flatMap((/** @type {any} */ { spans }) => spans);
    const attributes = spans.flatMap((/** @type {any} */ span) => span.attributes);
    const isInside = (/** @type {any} */ { key }) => key === "input.value" || key === "output.value";
    return attributes.filter(isInside).map((/** @type {any} */ { value }) => [value, "stringValue"]);
  }
  const keys = ["mlflow.spanInputs", "mlflow.spanOutputs"];
  return (body.spans ?? []).flatMap((/** @type {any} */ { attributes }) => keys.map((key) => [attributes, key]));
}

/** @param {any} body */
function parseInside(body) {
  for (const [holder, key] of insides(body)) holder[key] = JSON.parse(holder[key]);
  return body;
}

/** @param {any} body */
function stringifyInside(body) {
  for (const [holder, key] of insides(body)) holder[key] = JSON.stringify(holder[key]);
  return body;
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
  const sizes = isQuick ? [1, 4, 16] : [1, 4, 16, 63];
  console.log(row(["ms for each MiB of a body of", ...sizes.map((size) => `${size} MiB`), "must be", "is"]));
  console.log(row(Array(sizes.length + 3).fill("---")));
  for (const [name, make] of Object.entries(GROWING)) {
    if (!name.includes(part)) continue;
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
    if (!name.includes(part)) continue;
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
