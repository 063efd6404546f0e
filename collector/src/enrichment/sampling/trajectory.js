/** Which sample something is of, by members of any of the spellings that token2text reads. */

/** @typedef {import("./sampler.js").Sample} Sample */
/** What is known of a sample so far. @typedef {Partial<Sample>} Known */

/** What stands before a name in an attribute of which MLflow makes a tag. */
const TAG = "mlflow.traceTag.";

const FLAGS = new Map([["true", true], ["1", true], ["false", false], ["0", false]]);
/** What the members say. @type {Record<string, (text: string) => Known>} */
const READERS = {
  experiment_name: (text) => ({ experimentName: text }),
  step: (text) => ({ step: whole(text) }),
  validate: (text) => ({ validate: FLAGS.get(text.toLowerCase()) }),
  sample_index: (text) => ({ sampleIndex: whole(text) }),
};
/** Both spellings. */
const NAMES = new Map(Object.entries(READERS));
NAMES.set("experimentName", READERS.experiment_name).set("sampleIndex", READERS.sample_index);

/** Whether a body can tell samples at all: most do not, which is seen fast. @param {Buffer} body */
export function mayNameSamples(body) {
  return body.includes("sample_index") || body.includes("sampleIndex");
}

/** Whether a member is one of those. @param {string} key */
export function isOfSample(key) {
  return NAMES.has(withoutTag(key));
}

/** Notes what a member says; what was said before stays. @param {Known} known @param {string} key @param {unknown} value A scalar. */
export function note(known, key, value) {
  const reader = NAMES.get(withoutTag(key));
  if (!reader || value === null || value === undefined || typeof value === "object") return;
  for (const [member, found] of Object.entries(reader(textOf(value)))) {
    if (found !== undefined) Object.assign(known, { [member]: found, ...known });
  }
}

/** A scalar as text; MLflow's files have JSON in strings. @param {unknown} value */
function textOf(value) {
  const text = String(value);
  try {
    return text.startsWith('"') ? String(JSON.parse(text)) : text;
  } catch {
    return text;
  }
}

/** The sample, if its number is known. @param {Known} known @returns {Sample | undefined} */
export function sampleOf(known) {
  return known.sampleIndex === undefined ? undefined : /** @type {Sample} */ (known);
}

/** @param {string} key */
const withoutTag = (key) => (key.startsWith(TAG) ? key.slice(TAG.length) : key);

/** @param {string} text @returns {number | undefined} */
function whole(text) {
  const number = Number(text);
  return /^-?\d+(\.0+)?$/.test(text) && Number.isSafeInteger(number) ? number : undefined;
}
