/**
 * Bodies for the benchmarks, of recorded spans: as records, as MLflow stores them, as OTLP in JSON and in protocol
 * buffers. Each comes with the texts that must stand in it once it is enriched.
 */
import { readFileSync } from "node:fs";

const FIXTURES = new URL("../tests/fixtures/", import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, FIXTURES), "utf8");
const utf8 = new TextEncoder();

/** The calls of two rollouts as verl records them, one a line, and what their ids say. */
const CALLS = read("captures/verl-calls-qwen3/calls.jsonl").trim().split("\n");
const TEXTS = JSON.parse(read("captures/verl-calls-qwen3/expected.json")).map((/** @type {{ text: string }} */ { text }) => text);
/** A whole trajectory: ids of prompt and response, mask, log-probabilities. */
const TRAJECTORY = CALLS.findLast((line) => line.includes("ToolAgentLoop.run")) ?? CALLS[0];
const LISTS = /("(?:prompt_ids|response_ids|responses_ids|token_ids|response_mask|response_logprobs|log_probs)": \[)([^\]]+)\]/g;

/** @typedef {{ name: string, inputs: any, outputs: any, attributes: { [key: string]: any } }} Call */

/** The recorded trajectory with its lists repeated until it has so many bytes; `number` starts them elsewhere. @param {number} bytes */
export function longRecord(bytes, number = 0) {
  const times = Math.max(1, Math.floor(bytes / TRAJECTORY.length));
  return TRAJECTORY.replace(LISTS, (_, start, list) => `${start}${turned(list, number, times)}]`);
}

/** The recorded calls over and over, each time with the lists turned, until there are so many bytes. @param {number} bytes @returns {string[]} */
export function manyRecords(bytes) {
  const records = [];
  for (let size = 0, number = 0; size < bytes; number++) {
    const record = CALLS[number % CALLS.length].replace(LISTS, (_, start, list) => `${start}${turned(list, number, 1)}]`);
    records.push(record);
    size += utf8.encode(record).length + 1;
  }
  return records;
}

/** @param {string} list @param {number} by @param {number} times */
function turned(list, by, times) {
  const items = list.split(", ");
  const at = by % items.length;
  return Array(times).fill([...items.slice(at), ...items.slice(0, at)].join(", ")).join(", ");
}

/** Records as the lines of a file. @param {string[]} records */
export const asLines = (records) => utf8.encode(`${records.join("\n")}\n`);

/** Records as MLflow stores the spans of a trace: attributes are JSON in strings. @param {string[]} records */
export function asMlflow(records) {
  const frame = JSON.parse(read("wire/mlflow/verl-qwen3-ids/15-get-trace-artifact.json")).spans[1];
  const spans = records.map((text) => {
    const { name, attributes } = /** @type {Call} */ (JSON.parse(text));
    const [inputs, outputs] = ["inputs", "outputs"].map((key) => rawMember(text, key));
    return { ...frame, name, attributes: { ...attributes, ...frame.attributes, "mlflow.spanInputs": inputs, "mlflow.spanOutputs": outputs } };
  });
  return utf8.encode(JSON.stringify({ spans }));
}

/** The text of a record's member, which stands before `, "outputs"` or `, "attributes"`. @param {string} record @param {string} key */
function rawMember(record, key) {
  const start = record.indexOf(`"${key}": `) + key.length + 4;
  return record.slice(start, record.indexOf(key === "inputs" ? ', "outputs": ' : ', "attributes": ', start));
}

/**
 * Records as a request of OTLP: inputs and outputs as lists and members, as MLflow's client sends them, or as JSON in
 * strings, as other instrumentations do.
 *
 * @param {string[]} records
 * @param {{ inStrings?: boolean }} [options]
 */
export function asOtlp(records, { inStrings = false } = {}) {
  const spans = records.map((text, i) => {
    const { name, inputs, outputs, attributes } = /** @type {Call} */ (JSON.parse(text));
    const values = inStrings
      ? { "input.value": rawMember(text, "inputs"), "output.value": rawMember(text, "outputs") }
      : { "mlflow.spanInputs": inputs, "mlflow.spanOutputs": outputs };
    const id = (i + 1).toString(16).padStart(16, "0");
    const times = { startTimeUnixNano: "1767232800235456802", endTimeUnixNano: "1767232800240457776" };
    return { traceId: id.repeat(2), spanId: id, name, kind: 1, ...times, attributes: pairs({ ...attributes, ...values }) };
  });
  const resource = { attributes: pairs({ "service.name": "rollout-worker", "gen_ai.request.model": "Qwen/Qwen3-8B" }) };
  return { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: "rollout" }, spans }] }] };
}

/** @param {Record<string, any>} members @returns {{ key: string, value: any }[]} */
function pairs(members) {
  return Object.entries(members).map(([key, member]) => ({ key, value: value(member) }));
}

/** @param {any} plain @returns {any} */
function value(plain) {
  if (typeof plain === "string") return { stringValue: plain };
  if (typeof plain === "boolean") return { boolValue: plain };
  if (typeof plain === "number") return Number.isInteger(plain) ? { intValue: String(plain) } : { doubleValue: plain };
  if (Array.isArray(plain)) return { arrayValue: { values: plain.map(value) } };
  return plain === null ? {} : { kvlistValue: { values: pairs(plain) } };
}

/** @param {unknown} request */
export const asJson = (request) => utf8.encode(JSON.stringify(request));

/** Of each message: its fields by name, each with its number and how it is written. @type {Record<string, Record<string, [number, string]>>} */
const MESSAGES = {
  Request: { resourceSpans: [1, "ResourceSpans"] },
  ResourceSpans: { resource: [1, "Resource"], scopeSpans: [2, "ScopeSpans"] },
  Resource: { attributes: [1, "KeyValue"] },
  ScopeSpans: { scope: [1, "Scope"], spans: [2, "Span"] },
  Scope: { name: [1, "string"] },
  Span: {
    traceId: [1, "hex"], spanId: [2, "hex"], name: [5, "string"], kind: [6, "int"],
    startTimeUnixNano: [7, "fixed64"], endTimeUnixNano: [8, "fixed64"], attributes: [9, "KeyValue"],
  },
  KeyValue: { key: [1, "string"], value: [2, "Value"] },
  Value: {
    stringValue: [1, "string"], boolValue: [2, "int"], intValue: [3, "int"], doubleValue: [4, "double"],
    arrayValue: [5, "Values"], kvlistValue: [6, "KeyValues"],
  },
  Values: { values: [1, "Value"] },
  KeyValues: { values: [1, "KeyValue"] },
};

/** A request as protocol buffers. @param {any} request @returns {Buffer} */
export const asProto = (request) => message("Request", request);

/** @param {string} name @param {any} object @returns {Buffer} */
function message(name, object) {
  const parts = Object.entries(object).flatMap(([key, member]) => {
    const [number, type] = MESSAGES[name][key];
    return (Array.isArray(member) ? member : [member]).flatMap((item) => field(number, type, item));
  });
  return Buffer.concat(parts);
}

/** @param {number} number @param {string} type @param {any} item @returns {Buffer[]} */
function field(number, type, item) {
  const fixed = Buffer.alloc(8);
  if (type === "int") return [varint(number << 3), varint(Number(item))];
  if (type === "double" || type === "fixed64") {
    if (type === "double") fixed.writeDoubleLE(item);
    else fixed.writeBigUInt64LE(BigInt(item));
    return [varint((number << 3) | 1), fixed];
  }
  const bytes = type === "string" || type === "hex" ? Buffer.from(item, type === "hex" ? "hex" : "utf8") : message(type, item);
  return [varint((number << 3) | 2), varint(bytes.length), bytes];
}

/** @param {number} number */
function varint(number) {
  const bytes = [];
  for (; number >= 128; number = Math.floor(number / 128)) bytes.push((number % 128) | 128);
  return Buffer.from([...bytes, number]);
}

/** Calls of chat models with tools, in the words of the recorded rollouts, and without any ids. @param {number} bytes @returns {string[]} */
export function chats(bytes) {
  const tools = [{ type: "function", function: { name: "get_weather", description: "Forecast for a city.", parameters: { type: "object", properties: { city: { type: "string" }, days: { type: "integer" } }, required: ["city"] } } }];
  const records = [];
  for (let size = 0, number = 0; size < bytes; number++) {
    const said = (/** @type {number} */ i) => TEXTS[(number + i) % TEXTS.length];
    const call = { id: `call_${number}`, type: "function", function: { name: "get_weather", arguments: JSON.stringify({ city: said(2).slice(0, 12), days: number % 7 }) } };
    const messages = [
      { role: "system", content: said(0) },
      { role: "user", content: said(1) },
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", tool_call_id: call.id, content: JSON.stringify({ temperature: 20.5 + (number % 10), wind: [3, 4, 5], text: said(3) }) },
    ];
    const message = { role: "assistant", content: said(4) };
    const record = {
      name: "ChatCompletion", inputs: { model: "Qwen/Qwen3-8B", temperature: 0.7, messages, tools },
      outputs: { id: `chatcmpl-${number}`, object: "chat.completion", created: 1767225600 + number, model: "Qwen/Qwen3-8B", choices: [{ index: 0, message, finish_reason: "stop" }], usage: { prompt_tokens: 300 + number, completion_tokens: 80, total_tokens: 380 + number } },
      attributes: { "session.id": `s-${number >> 3}`, step: number % 100, validate: false, experiment_name: "chat" },
    };
    // With the spaces that Python writes.
    const text = JSON.stringify(record, null, 1).replace(/([[{])\n */g, "$1").replace(/\n *([}\]])/g, "$1").replace(/\n */g, " ");
    records.push(text);
    size += utf8.encode(text).length + 1;
  }
  return records;
}
