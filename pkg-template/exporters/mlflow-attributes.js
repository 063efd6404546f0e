/** What a span is given so that MLflow shows it well: its type, its chat, and on the root the name and tags of the trace. */
import { Numeral, elements, members, stringifyExact, tryParseExact } from "./exact-json.js";
import { readAttributes } from "./mlflow-spans.js";
import { hasText, withAttributes } from "./otlp-request.js";

/** @typedef {import("./otlp-request.js").WireSpan} WireSpan */
/** @typedef {import("./exact-json.js").Exact} Exact */

const TYPE = "mlflow.spanType";
/** Attributes of other conventions that tell a type. The server translates them too, but its filter does not find those. */
const TYPE_SOURCES = ["gen_ai.operation.name", "openinference.span.kind"];
/** @type {Record<string, string>} */
export const TYPES = {
  chat: "CHAT_MODEL",
  create_agent: "AGENT",
  embeddings: "EMBEDDING",
  execute_tool: "TOOL",
  generate_content: "LLM",
  invoke_agent: "AGENT",
  text_completion: "LLM",
  AGENT: "AGENT",
  CHAIN: "CHAIN",
  EMBEDDING: "EMBEDDING",
  EVALUATOR: "EVALUATOR",
  GUARDRAIL: "GUARDRAIL",
  LLM: "LLM",
  RERANKER: "RERANKER",
  RETRIEVER: "RETRIEVER",
  TOOL: "TOOL",
};
const CHAT = "mlflow.chat.messages";
const INPUTS = "mlflow.spanInputs";
const OUTPUTS = "mlflow.spanOutputs";
/** Those that MLflow's page knows. */
const ROLES = ["user", "assistant", "system", "tool"];
/** What says which sample of a training run a trace is; verl makes tags of the same. */
const TRAJECTORY = ["step", "sample_index", "rollout_n", "validate", "experiment_name"];
const TAG = "mlflow.traceTag.";
const NAME_TAG = `${TAG}mlflow.traceName`;

/**
 * The spans of one trace, with what MLflow wants to know.
 *
 * @param {readonly WireSpan[]} trace
 * @returns {WireSpan[]}
 */
export function forMlflow(trace) {
  return trace.map((span) => {
    const added = [...typeOf(span), ...chatOf(span), ...(span.parentId === "" ? tagsOf(span, trace) : [])];
    return { ...span, bytes: withAttributes(span.bytes, added) };
  });
}

/** @param {WireSpan} span @returns {[string, string][]} */
function typeOf({ bytes }) {
  const found = readAttributes(bytes, [TYPE, ...TYPE_SOURCES]);
  if (found.has(TYPE)) return [];
  const type = TYPE_SOURCES.map((source) => TYPES[String(found.get(source))]).find((known) => known !== undefined);
  return type === undefined ? [] : [[TYPE, type]];
}

/**
 * The messages of a span with its decoded response, which MLflow draws as a chat above the lines of ids.
 *
 * @param {WireSpan} span
 * @returns {[string, string][]}
 */
function chatOf({ bytes }) {
  // Most spans have none; reading their ids would be for nothing.
  if (!hasText(bytes, "response_text")) return [];
  const found = readAttributes(bytes, [CHAT, INPUTS, OUTPUTS]);
  const response = members(opened(found.get(OUTPUTS))).get("response_text");
  if (found.has(CHAT) || typeof response !== "string") return [];
  const inputs = members(opened(found.get(INPUTS)));
  const messages = elements(inputs.get("messages") ?? members(inputs.get("kwargs")).get("raw_prompt"));
  if (messages.length === 0 || !messages.every(isMessage)) return [];
  return [[CHAT, stringifyExact([...messages, new Map([["role", "assistant"], ["content", response]])])]];
}

/** @param {Exact} value */
function isMessage(value) {
  const { role, content } = Object.fromEntries(members(value));
  return ROLES.includes(String(role)) && (typeof content === "string" || content === null);
}

/** A value, or the JSON in its string. @param {Exact | undefined} value */
function opened(value) {
  return typeof value === "string" ? tryParseExact(value) : value;
}

/** @param {WireSpan} root @param {readonly WireSpan[]} trace @returns {[string, string][]} */
function tagsOf(root, trace) {
  const given = readAttributes(root.bytes, [NAME_TAG, ...TRAJECTORY.map((name) => TAG + name)]);
  /** @type {Map<string, string>} */
  const tags = new Map([[NAME_TAG, root.name]]);
  for (const { bytes } of [root, ...trace]) {
    for (const [name, value] of readAttributes(bytes, TRAJECTORY)) {
      const text = tagText(value);
      if (text !== undefined && !tags.has(TAG + name)) tags.set(TAG + name, text);
    }
  }
  return [...tags].filter(([key]) => !given.has(key));
}

/** As Python writes it, so that a filter finds the traces of every client. @param {Exact} value */
function tagText(value) {
  if (typeof value === "boolean") return value ? "True" : "False";
  if (value instanceof Numeral) return value.text;
  return typeof value === "string" ? value : undefined;
}

/** The tags of the trace that its root span carries. @param {ReadonlyMap<string, Exact>} storedAttributes */
export function traceTags(storedAttributes) {
  /** @type {Record<string, string>} */
  const tags = {};
  for (const [key, json] of storedAttributes) {
    if (key.startsWith(TAG) && typeof json === "string") tags[key.slice(TAG.length)] = String(JSON.parse(json));
  }
  return tags;
}
