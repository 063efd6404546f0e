/** Which sample something is of, by members of any of the spellings that token2text reads. */

/** @typedef {import("./sampler.js").Sample} Sample */
/** What is known of a sample so far. @typedef {Partial<Sample>} Known */

/** What stands before a name in an attribute of which MLflow makes a tag. */
const TAG = "mlflow.traceTag.";

/** @type {Record<string, (known: Known, text: string) => void>} */
const READERS = {
  experiment_name: (known, text) => (known.experimentName = text),
  step: (known, text) => (known.step = whole(text)),
  validate: (known, text) => (known.validate = FLAGS[text.toLowerCase()]),
  sample_index: (known, text) => (known.sampleIndex = whole(text)),
};
const SPELLINGS = new Map(
  Object.entries({ experimentName: "experiment_name", sampleIndex: "sample_index" }).concat(Object.keys(READERS).map((name) => [name, name])),
);
/** @type {Record<string, boolean>} */
const FLAGS = { true: true, 1: true, false: false, 0: false };

/** Whether a body can tell samples at all: most do not, which is seen fast. @param {Buffer} body */
export function mayNameSamples(body) {
  return body.includes("sample_index") || body.includes("sampleIndex");
}

/** Whether a member is one of those. @param {string} key */
export function isOfSample(key) {
  return SPELLINGS.has(withoutTag(key));
}

/** Notes what a member says; what was said before stays. @param {Known} known @param {string} key @param {unknown} value A scalar. */
export function note(known, key, value) {
  const name = SPELLINGS.get(withoutTag(key));
  if (name === undefined || value === null || value === undefined || typeof value === "object") return;
  /** @type {Known} */
  const read = {};
  READERS[name](read, String(value));
  for (const [member, found] of Object.entries(read)) if (found !== undefined) Object.assign(known, { [member]: found, ...known });
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
