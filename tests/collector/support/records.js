/** What is stored, as plain records that two runs of a program can be compared by. */

/** Another in each run, or made of what is. */
const OF_THE_RUN = new Set([
  ..."id trace_id span_id parent_span_id start_time_unix_nano end_time_unix_nano time_unix_nano timestamp log_id run_id run".split(" "),
  ..."experiment mlflow.artifactLocation mlflow.traceRequestId mlflow.trace.sizeStats mlflow.trace.sizeBytes exception.stacktrace".split(" "),
]);
const ID = /\b(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{32}|0x[0-9a-f]+)\b/g;
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|\+00:00)?/g;
const TEXTS = new Set(["prompt_text", "response_text"]);

/** @typedef {(key: string, of: any) => boolean} Leaves Whether a member of an object is left out. */
/** @type {Leaves} */
export const noTexts = (key) => TEXTS.has(key);

/**
 * A value without what differs from run to run; JSON in strings is opened, for texts may be in it.
 *
 * @param {any} value
 * @param {Leaves} [leaves]
 * @returns {any}
 */
export function comparable(value, leaves = () => false) {
  if (typeof value === "string") {
    const opened = /^[[{]/.test(value) ? parsed(value) : undefined;
    return opened === undefined ? value.replace(ID, "<id>").replace(TIME, "<time>") : comparable(opened, leaves);
  }
  if (Array.isArray(value)) return value.map((item) => comparable(item, leaves));
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([key]) => !OF_THE_RUN.has(key) && !leaves(key, value));
  return Object.fromEntries(kept.map(([key, item]) => [key, comparable(item, leaves)]));
}

/** @param {string} json */
function parsed(json) {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/**
 * Prompt and response of every object that has a text.
 *
 * @param {any} value
 * @returns {{ of: any, texts: string[] }[]}
 */
export function textsIn(value) {
  /** @type {{ of: any, texts: string[] }[]} */
  const found = [];
  JSON.stringify(comparable(value), (_, item) => {
    const texts = [item?.prompt_text, item?.response_text].filter((text) => typeof text === "string");
    if (texts.length > 0) found.push({ of: item, texts });
    return item;
  });
  return found;
}
