/** Tokenizers and layouts: what decodes, and where the ids stand. */
import { join, resolve } from "node:path";
import { readText, statOf } from "./files.js";
import { scalar } from "./kinds.js";

/** @typedef {import("./place.js").Place} Place */
/** @typedef {import("./kinds.js").Kind} Kind */
/** @typedef {{ pattern: string, file: string }} TokenizerFile */

const EXPECTED = "FILE, or 'PATTERN=FILE' for the models that a pattern matches: 'Qwen/*=qwen/tokenizer.json'";

/**
 * `FILE`, `PATTERN=FILE`, or in a file an object `{ pattern, file }`. A folder stands for the tokenizer.json in it.
 *
 * @type {Kind}
 */
export const tokenizer = {
  placeholder: "[PATTERN=]FILE",
  // In a file also an object of patterns and files.
  members(value, place) {
    if (!isObject(value) || "file" in value) return undefined;
    return Object.entries(value).map(([pattern, file]) => {
      const here = place.inside(pattern);
      return [{ pattern, file }, { ...here, inside: () => here }];
    });
  },
  show: ({ pattern, file }) => (pattern === "*" ? file : `${pattern}=${file}`),
  read(value, place) {
    if (isObject(value)) return fromObject(value, place);
    const text = scalar(value, place, EXPECTED);
    if (text === undefined) return undefined;
    const at = text.indexOf("=");
    // A file whose own name has a `=` is that file.
    const isFile = at < 1 || isUrl(text) || statOf(resolve(place.folder, text)) !== undefined;
    return isFile ? found("*", text, place) : found(text.slice(0, at), text.slice(at + 1), place);
  },
};

/** @param {Record<string, unknown>} value @param {Place} place */
function fromObject({ pattern = "*", file, ...more }, place) {
  for (const key of Object.keys(more)) place.inside(key, "key").fail("there is no such key; a tokenizer has pattern and file");
  const name = scalar(file, place.inside("file"), "the path of a tokenizer.json");
  const models = scalar(pattern, place.inside("pattern"), "a pattern on the names of models, such as Qwen/*");
  return name === undefined || models === undefined ? undefined : found(models, name, place.inside("file"));
}

/** @param {string} pattern @param {string} name @param {Place} place @returns {TokenizerFile | undefined} */
function found(pattern, name, place) {
  if (isUrl(name)) return place.fail(`${name} is an address; download the tokenizer.json and write its path`);
  const path = resolve(place.folder, name);
  const entry = statOf(path, place);
  if (entry === undefined) return undefined;
  if (!entry.isDirectory()) return { pattern, file: path };
  const file = join(path, "tokenizer.json");
  return statOf(file) === undefined ? place.fail(`there is no tokenizer.json in the folder ${name}`) : { pattern, file };
}

/**
 * In the order in which they are asked: the first pattern that matches counts, so the one for all models comes last.
 *
 * @param {TokenizerFile[]} given
 * @param {Place} place
 */
export function inOrder(given, place) {
  const patterns = given.map(({ pattern }) => pattern);
  const twice = patterns.find((pattern, index) => patterns.indexOf(pattern) !== index);
  if (twice === "*") return place.fail("several tokenizers for all models; tell them apart by a pattern on the model's name: 'Qwen/*=FILE'");
  if (twice !== undefined) return place.fail(`the pattern ${twice} is given twice; leave one of them out`);
  return [...given.filter(({ pattern }) => pattern !== "*"), ...given.filter(({ pattern }) => pattern === "*")];
}

/**
 * The name of a built-in layout, a file of JSON with one layout or a list of them, or in a file a layout itself.
 *
 * @type {Kind}
 */
export const layout = {
  placeholder: "FILE",
  read(value, place) {
    if (isObject(value)) return [value];
    const name = scalar(value, place, "the path of a layout, or the name of a built-in one");
    if (name === undefined) return undefined;
    const path = resolve(place.folder, name);
    if (/^[\w-]+$/.test(name) && statOf(path) === undefined) return [name];
    const text = readText(path, place);
    if (text === undefined) return undefined;
    try {
      const layouts = JSON.parse(text);
      return Array.isArray(layouts) ? layouts : [layouts];
    } catch (error) {
      return place.fail(`the layout ${name} is not JSON: ${/** @type {Error} */ (error).message}`);
    }
  },
};

/**
 * Layouts that token2text takes.
 *
 * @param {(string | object)[][]} given
 * @param {Place} place
 */
export async function checkedLayouts(given, place) {
  const { strip } = await import("token2text");
  const layouts = /** @type {(string | import("token2text").Layout)[]} */ (given.flat());
  try {
    strip(new TextEncoder().encode("{}"), { layouts });
    return layouts;
  } catch (error) {
    return place.fail(/** @type {Error} */ (error).message);
  }
}

/** @param {string} text */
function isUrl(text) {
  return /^[a-z][a-z0-9+.-]+:\/\//i.test(text);
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

