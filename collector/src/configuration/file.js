/** The file of --config: YAML, of which JSON is a part. Every message says line and column. */
import { dirname, resolve } from "node:path";
import { LineCounter, isAlias, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import { readText } from "./files.js";
import { keyOf } from "./options.js";
import { didYouMean, plainPlace } from "./place.js";
import { isObject } from "./texts.js";

/** @typedef {import("./place.js").Place} Place */
/** @typedef {import("./sources.js").Given} Given */
/** @typedef {{ name: string, folder: string, counter: LineCounter, document: import("yaml").Document, problems: string[] }} File */

/**
 * @param {import("./options.js").Option[]} options
 * @param {string} name As it was given, and as messages have it.
 * @param {Place} from Where the name was given.
 * @param {string[]} problems
 * @returns {Map<string, Given>} By the names of the options.
 */
export function fromFile(options, name, from, problems) {
  const path = resolve(from.folder, name);
  const text = readText(path, from);
  /** @type {Map<string, Given>} */
  const given = new Map();
  if (text === undefined) return given;
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false });
  for (const { pos, message } of [...document.errors, ...document.warnings]) problems.push(`${position(name, counter, pos[0])}: ${message}`);
  if (document.errors.length > 0) return given;

  spellNumbers(document);
  const file = { name, folder: dirname(path), counter, document, problems };
  const value = plain(file);
  if (value === null || value === undefined) return given;
  if (!isObject(value)) {
    placeOf(file, []).fail("options are missing; write one a line, such as `workers: 2`");
    return given;
  }
  for (const [key, member] of Object.entries(value)) {
    const option = options.find((option) => keyOf(option) === key);
    if (option === undefined) placeOf(file, [key], "key").fail(`there is no such option${didYouMean(key, options.map(keyOf))}`);
    else given.set(option.name, { value: member, place: placeOf(file, [key]) });
  }
  return given;
}

/** Numbers become what stands there, for a token may be 0123. Layouts are JSON and keep theirs. @param {import("yaml").Document} document */
function spellNumbers(document) {
  visit(document, {
    Pair: (_, { key }) => (isScalar(key) && key.value === "layouts" ? visit.SKIP : undefined),
    Scalar(_, node) {
      if (typeof node.value === "number" && node.source !== undefined) node.value = node.source;
    },
  });
}

/** @param {File} file */
function plain(file) {
  try {
    return file.document.toJS();
  } catch (error) {
    // Aliases that would make a small file large.
    return placeOf(file, []).fail(/** @type {Error} */ (error).message);
  }
}

/** @param {File} file @param {(string | number)[]} path @param {"value" | "key"} [part] @returns {Place} */
function placeOf(file, path, part = "value") {
  const names = path.map((key, index) => (typeof key === "number" ? `[${key}]` : index > 0 ? `.${key}` : key)).join("");
  const at = position(file.name, file.counter, offsetOf(file.document, path, part));
  const { fail } = plainPlace(names === "" ? at : `${at}: ${names}`, file.folder, file.problems);
  return { label: at, folder: file.folder, inside: (key, part) => placeOf(file, [...path, key], part), fail };
}

/**
 * Where a value begins; of a list or an object its key, which stands before it; of what is not there, what it should be in.
 *
 * @param {import("yaml").Document} document
 * @param {(string | number)[]} path
 * @param {"value" | "key"} part
 */
function offsetOf(document, path, part) {
  /** @type {any} */
  let node = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const [index, key] of path.entries()) {
    const isValue = part === "value" || index < path.length - 1;
    if (isAlias(node)) node = node.resolve(document);
    const pair = isMap(node) ? node.items.find(({ key: name }) => String(isScalar(name) ? name.value : name) === key) : undefined;
    /** @type {any} */
    const member = pair?.value ?? (isSeq(node) ? node.items[Number(key)] : undefined);
    /** @type {any} */
    const name = pair?.key;
    if (member === undefined && name === undefined) return offset;
    offset = (isValue && isScalar(member) && member.value !== null ? member.range : (name ?? member)?.range)?.[0] ?? offset;
    node = member;
  }
  return offset;
}

/** @param {string} name @param {LineCounter} counter @param {number} offset */
function position(name, counter, offset) {
  const { line, col } = counter.linePos(offset);
  return `${name}:${line}:${col}`;
}
