/** A record as verl's own client logs it to Trackio: a trace for each call, flat and without times, with its values in metadata and messages. */
import { randomId } from "./context.js";
import { jsonOf, spaced } from "./json.js";
import { finite } from "../exporters/json-repair.js";
import { elements, memberText, members } from "../exporters/json-text.js";

/** @typedef {import("./backends.js").Prepared} Prepared */
/** @typedef {import("./backends.js").Run} Run */

/** Whether the JSON is what Python takes for false. @param {string | undefined} json */
const isFalsy = (json) => json === undefined || /^(?:""|null|false|\[\]|\{\}|-?0(?:\.0*)?(?:[eE].*)?)$/.test(json);

/**
 * An entry of `bulk_log`, as JSON. Its id is new, so that it is stored once however often it is sent.
 *
 * @param {Prepared} prepared
 * @param {Run} run
 * @param {boolean} isFirst The first one of a run has its configuration.
 */
export function trackioEntry(prepared, { projectName, experimentName, runId }, isFirst) {
  const { record } = prepared;
  const key = `rollout_trace/${record.name.replace(/[^\p{L}\p{N}._-]/gu, "_")}`;
  const trace = object({ _type: '"trackio.trace"', messages: messagesOf(prepared), metadata: metadataOf(prepared, experimentName), spans: "[]" });
  const config = isFirst ? { framework: "verl", _Username: null, _Created: new Date().toISOString(), _Group: null } : null;
  return object({
    project: jsonOf(projectName),
    run: jsonOf(experimentName),
    run_id: jsonOf(runId),
    metrics: object({ [key]: trace }),
    step: stepOf(record.attributes.step),
    config: jsonOf(config),
    log_id: jsonOf(randomId(16)),
  });
}

/** @param {Prepared} prepared @param {string} experimentName */
function metadataOf({ record, inputs, output }, experimentName) {
  const { name, attributes, thrown } = record;
  const parts = members(inputs);
  const rest = [...parts].filter(([key]) => key !== "messages").map(([key, { start, end }]) => [key, inputs.slice(start, end)]);
  return object({
    op: jsonOf(name),
    backend: '"trackio"',
    experiment_name: jsonOf(experimentName),
    inputs: named(objectOf(rest)),
    ...Object.fromEntries(Object.entries(attributes).map(([key, value]) => [key, named(jsonOf(value))])),
    ...(thrown ? { status: '"error"', exception_type: jsonOf(thrown.type) } : { status: '"success"', output: named(output) }),
  });
}

/** Those of the inputs, or what was called with what; then what came of it. @param {Prepared} prepared */
function messagesOf({ record, inputs, output }) {
  const given = messagesIn(inputs);
  const asked = [
    message("system", `verl rollout trace operation: ${record.name}`),
    message("user", spaced(object({ inputs }))),
  ];
  return `[${[...(given.length > 0 ? given : asked), message("assistant", answerOf(record, output))].join()}]`;
}

/** The objects with a role in the list `messages`. @param {string} inputs */
function messagesIn(inputs) {
  const list = memberText(inputs, members(inputs), "messages");
  if (!list?.startsWith("[")) return [];
  const items = elements(list).map(({ start, end }) => list.slice(start, end));
  return items.filter((item) => item.startsWith("{") && memberText(item, members(item), "role")?.startsWith('"')).map(named);
}

/** @param {Prepared["record"]} record @param {string} output */
function answerOf({ thrown }, output) {
  if (thrown) return spaced(object({ exception_type: jsonOf(thrown.type), exception: jsonOf(thrown.message) }));
  const parts = output.startsWith("{") ? members(output) : new Map();
  const said = ["response_text", "answer"].map((key) => memberText(output, parts, key)).find((json) => !isFalsy(json));
  if (said === undefined) return spaced(object({ output }));
  return said.startsWith('"') ? JSON.parse(said) : spaced(said);
}

/** With strings for numbers that JSON has not, as Trackio's client sends them. @param {string} json */
function named(json) {
  return finite(json, (name) => `"${name}"`);
}

/** @param {string} role @param {string} content */
function message(role, content) {
  return object({ role: jsonOf(role), content: jsonOf(content) });
}

/** An integer, where Python's `int` makes one of what is given. @param {unknown} step */
function stepOf(step) {
  const isText = typeof step === "string";
  if (isText ? !/^\s*[+-]?\d+\s*$/.test(step) : step === null || step === undefined) return "null";
  const number = Math.trunc(Number(step));
  return Number.isSafeInteger(number) ? String(number) : "null";
}

/** An object of members that are JSON. @param {Record<string, string>} members */
function object(members) {
  return objectOf(Object.entries(members));
}

/** The same, whose keys keep their order, also those that are numbers. @param {string[][]} members */
function objectOf(members) {
  return `{${members.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join()}}`;
}
