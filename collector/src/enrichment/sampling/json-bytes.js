/** JSON as it stands in bytes: visited in one pass, and only where somebody looks into it. What is passed over is not checked. */

const [SPACE, TAB, LINE, RETURN] = [0x20, 0x09, 0x0a, 0x0d];
const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Most bytes of a value that is read. */
const LONGEST = 4096;

/** @typedef {(key: string, at: number) => number | undefined} Look Given where a child begins, says where it ends if it has looked. */

/** The first byte that is not white space, from a place on. @param {Buffer} json @param {number} at */
export function skipSpace(json, at) {
  while (json[at] === SPACE || json[at] === LINE || json[at] === RETURN || json[at] === TAB) at++;
  return at;
}

/** Whether a list begins here. @param {Buffer} json @param {number} at */
export function isList(json, at) {
  return json[at] === OPEN_LIST;
}

/**
 * Visits the members of an object, or the elements of a list, whose keys are then empty. Of any other value only the end is found.
 *
 * @param {Buffer} json
 * @param {number} at Where the value begins.
 * @param {Look} look
 * @returns {number} Where it ends.
 * @throws {Error} It is not JSON.
 */
export function visit(json, at, look) {
  const isObject = json[at] === OPEN_OBJECT;
  if (!isObject && json[at] !== OPEN_LIST) return endOfValue(json, at);
  const close = isObject ? CLOSE_OBJECT : CLOSE_LIST;
  at = skipSpace(json, at + 1);
  if (json[at] === close) return at + 1;
  for (;;) {
    let key = "";
    if (isObject) {
      const end = endOfString(json, at);
      key = json.toString("latin1", at + 1, end - 1);
      at = skipSpace(json, end);
      if (json[at] !== COLON) throw broken(at);
      at = skipSpace(json, at + 1);
    }
    at = skipSpace(json, look(key, at) ?? endOfValue(json, at));
    if (json[at] === close) return at + 1;
    if (json[at] !== COMMA) throw broken(at);
    at = skipSpace(json, at + 1);
  }
}

/** @param {Buffer} json @param {number} start */
export function endOfValue(json, start) {
  if (json[start] === QUOTE) return endOfString(json, start);
  let depth = 0;
  for (let at = start; at < json.length; at++) {
    const byte = json[at];
    // Most bytes are digits, which are told by one comparison.
    if (byte < OPEN_LIST) {
      if (byte === QUOTE) at = endOfString(json, at) - 1;
      else if (byte === COMMA && depth === 0) return at;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) depth++;
    else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      if (depth === 0) return at;
      if (--depth === 0) return at + 1;
    }
  }
  if (depth === 0) return json.length;
  throw broken(json.length);
}

/** @param {Buffer} json @param {number} start */
function endOfString(json, start) {
  if (json[start] !== QUOTE) throw broken(start);
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === QUOTE) return at + 1;
    if (json[at] === BACKSLASH) at++;
  }
  throw broken(json.length);
}

/** A short value without parts as JavaScript has it; undefined for any other. @param {Buffer} json @param {number} at @returns {unknown} */
export function scalarAt(json, at) {
  if (json[at] === OPEN_LIST || json[at] === OPEN_OBJECT) return undefined;
  const end = endOfValue(json, at);
  if (end - at > LONGEST) return undefined;
  try {
    return JSON.parse(json.toString("utf8", at, end));
  } catch {
    return undefined;
  }
}

/** @param {number} at */
function broken(at) {
  return new Error(`not JSON at byte ${at}`);
}
