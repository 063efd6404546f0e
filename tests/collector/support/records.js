/** What is stored, as plain records that two runs of a program can be compared by. */

/** Another in each run, or made of what is. */
const OF_THE_RUN = new Set([
  ..."id trace_id span_id parent_span_id start_time_unix_nano end_time_unix_nano time_unix_nano timestamp log_id run_id run".split(" "),
  ..."experiment mlflow.artifactLocation mlflow.traceRequestId mlflow.trace.sizeStats mlflow.trace.sizeBytes exception.stacktrace".split(" "),
]);
const ID = /\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|0x[0-9a-f]+)\b/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?/g;
const TEXTS = new Set(["prompt_text", "response_text"]);

/**
 * A value without what differs from run to run; JSON in strings is opened, for texts may be in it.
 *
 * @param {any} value
 * @param {{ texts: boolean }} keep Whether decoded texts stay.
 * @returns {any}
 */
export function comparable(value, keep) {
  if (typeof value === "string") {
    const opened = /^[[{]/.test(value) ? parsed(value) : undefined;
    return opened === undefined ? value.replace(ID, "<id>").replace(TIME, "<time>") : comparable(opened, keep);
  }
  if (Array.isArray(value)) return value.map((item) => comparable(item, keep));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !OF_THE_RUN.has(key) && (keep.texts || !TEXTS.has(key)));
  return Object.fromEntries(kept.map(([key, item]) => [key, comparable(item, keep)]));
}

/** @param {string} json */
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** Prompt and response of every object that has a text, in the order in which they stand. @param {any} value @returns {[string, string][]} */
export function textsIn(value) {
  /** @type {[string, string][]} */
  const found = [];
  JSON.stringify(comparable(value, { texts: true }), (_, item) => {
    if (typeof item?.prompt_text === "string" || typeof item?.response_text === "string") found.push([item.prompt_text, item.response_text]);
    return item;
  });
  return found;
}
