/** Inputs, output and kind of a span under the names by which a backend shows them, where the span has none by these names. */
import { stringifyExact } from "./exact-json.js";
import { elements, members } from "./json-text.js";
import { TYPES } from "./mlflow-attributes.js";
import { attributesWhere } from "./mlflow-spans.js";
import { withAttributes } from "./otlp-request.js";

/** @typedef {import("./otlp-request.js").WireSpan} WireSpan */
/** @typedef {import("./exact-json.js").Exact} Exact */
/** @typedef {ReadonlyMap<string, Exact>} Attributes */
/** A text, and whether it is JSON. @typedef {{ text: string, isJson: boolean }} Shown */
/** @typedef {{ value: string, type?: string }} Names Of the value, and of its media type. */
/** @typedef {{ input: Names, output: Names, kind: string, kinds: Record<string, string> }} Convention */
/** @typedef {"openinference" | "langsmith"} ConventionName */

/** Kinds of OpenInference, by what MLflow and OpenTelemetry's conventions call them. @type {Record<string, string>} */
const KINDS = { ...TYPES, CHAT_MODEL: "LLM", chat: "LLM" };
const KIND_SOURCES = ["openinference.span.kind", "mlflow.spanType", "gen_ai.operation.name"];

/** @type {Record<ConventionName, Convention>} */
export const CONVENTIONS = {
  // As in openinference-semantic-conventions 0.1.42; Phoenix takes no other names for its input and output.
  openinference: {
    input: { value: "input.value", type: "input.mime_type" },
    output: { value: "output.value", type: "output.mime_type" },
    kind: "openinference.span.kind",
    kinds: Object.fromEntries(Object.values(KINDS).map((kind) => [kind, kind])),
  },
  // https://docs.langchain.com/langsmith/trace-with-opentelemetry, which also names the types of runs.
  langsmith: {
    input: { value: "gen_ai.prompt" },
    output: { value: "gen_ai.completion" },
    kind: "langsmith.span.kind",
    kinds: { AGENT: "chain", CHAIN: "chain", EMBEDDING: "embedding", LLM: "llm", RETRIEVER: "retriever", TOOL: "tool" },
  },
};

const INPUTS = "mlflow.spanInputs";
const OUTPUTS = "mlflow.spanOutputs";
const MLFLOW = "mlflow.";
/** Where texts are, most telling first: a text by its name, which an Enricher has written there. */
const PROMPT = [[INPUTS, "prompt_text"], [OUTPUTS, "prompt_text"], [INPUTS, "response_text"]];
const RESPONSE = [[OUTPUTS, "response_text"], ["llm.hosted_vllm.choices", "response_text"]];
const READ = new Set(["token2text.prompt_text", "token2text.response_text", ...KIND_SOURCES, ...[...PROMPT, ...RESPONSE].map(([name]) => name)]);

/**
 * The spans, which gain attributes and lose none.
 *
 * @param {readonly WireSpan[]} spans
 * @param {ConventionName} name
 * @returns {WireSpan[]}
 */
export function shownAs(spans, name) {
  const parents = new Set(spans.map(({ parentId }) => parentId));
  return spans.map((span) => ({ ...span, bytes: withAttributes(span.bytes, shown(span, CONVENTIONS[name], parents)) }));
}

/** @param {WireSpan} span @param {Convention} convention @param {ReadonlySet<string>} parents @returns {[string, string][]} */
function shown({ bytes, spanId }, { input, output, kind, kinds }, parents) {
  const names = [input.value, output.value, kind];
  const found = attributesWhere(bytes, (name) => READ.has(name) || names.includes(name) || name.startsWith(MLFLOW));
  const response = textsOf(found, "response_text", RESPONSE);
  // A call of a model has an answer, and nothing happens inside of it.
  const known = KIND_SOURCES.map((source) => KINDS[unquoted(found.get(source))]).find((one) => one !== undefined);
  const type = kinds[known ?? (response && !parents.has(spanId) ? "LLM" : "")];
  return [
    ...(found.has(input.value) ? [] : attributes(input, textsOf(found, "prompt_text", PROMPT) ?? whole(found.get(INPUTS)))),
    ...(found.has(output.value) ? [] : attributes(output, response ?? whole(found.get(OUTPUTS)))),
    .../** @type {[string, string][]} */ (found.has(kind) || type === undefined ? [] : [[kind, type]]),
  ];
}

/** @param {Names} names @param {Shown} [shown] @returns {[string, string][]} */
function attributes({ value, type }, shown) {
  if (!shown) return [];
  return type ? [[value, shown.text], [type, shown.isJson ? "application/json" : "text/plain"]] : [[value, shown.text]];
}

/** The texts of that name, if there are any. @param {Attributes} found @param {string} name @param {readonly string[][]} places @returns {Shown | undefined} */
function textsOf(found, name, places) {
  const own = found.get(`token2text.${name}`);
  const isReread = [...found.keys()].some((key) => key.startsWith(MLFLOW));
  const texts = own === undefined || own === null ? [] : [own].flat().map((text) => (isReread ? unquoted(text) : String(text)));
  for (const [source, key] of texts.length > 0 ? [] : places) {
    const value = found.get(source);
    if (value !== undefined) texts.push(...textsIn(jsonOf(value), key));
    if (texts.length > 0) break;
  }
  if (texts.length === 0) return undefined;
  return texts.length === 1 ? { text: texts[0], isJson: false } : { text: JSON.stringify(texts), isJson: true };
}

/** All texts of a name in a JSON text, of which only what leads to them is looked into. @param {string} json @param {string} key @returns {string[]} */
function textsIn(json, key) {
  if (!json.includes(`"${key}"`)) return [];
  try {
    if (json[0] === "[") return elements(json).flatMap(({ start, end }) => textsIn(json.slice(start, end), key));
    if (json[0] !== "{") return [];
    return [...members(json)].flatMap(([name, { start, end }]) => {
      const value = json.slice(start, end);
      return name === key ? [JSON.parse(value)].flat().filter((text) => typeof text === "string") : textsIn(value, key);
    });
  } catch {
    return [];
  }
}

/** A value as it is. @param {Exact} [value] @returns {Shown | undefined} */
function whole(value) {
  if (value === undefined || value === null) return undefined;
  const json = jsonOf(value);
  return /^[[{]/.test(json) ? { text: json, isJson: true } : { text: unquoted(json), isJson: false };
}

/** @param {Exact} value */
function jsonOf(value) {
  return typeof value === "string" ? value : stringifyExact(value);
}

/** What is in a JSON string, as MLflow's clients write texts; any other text is what it is. @param {Exact} [value] */
function unquoted(value) {
  const text = value === undefined ? "" : jsonOf(value);
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
