/** Lines of a byte stream, kept byte for byte. */

const LF = 0x0a;
const CR = 0x0d;

/**
 * @typedef {object} Line
 * @property {Buffer} content Without its ending.
 * @property {Buffer} ending `\n`, `\r\n`, or nothing at the end of the file.
 * @property {boolean} [oversize] `content` is only a part of a line longer than the limit; the rest follows.
 */

/**
 * For each chunk of the input, the lines that end in it.
 *
 * @param {AsyncIterable<Buffer>} chunks
 * @param {number} limit The longest line that is held in memory; a longer one comes in parts.
 * @returns {AsyncGenerator<Line[]>}
 */
export async function* splitLines(chunks, limit) {
  /** @type {Buffer[]} */
  let pending = [];
  let length = 0;
  let oversize = false;
  for await (const chunk of chunks) {
    /** @type {Line[]} */
    const lines = [];
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      pending.push(chunk.subarray(start, end + 1));
      oversize ||= length + (end + 1 - start) > limit;
      lines.push(makeLine(pending, oversize));
      [pending, length, oversize] = [[], 0, false];
      start = end + 1;
    }
    if (start < chunk.length) {
      pending.push(chunk.subarray(start));
      length += chunk.length - start;
    }
    if (length > limit) {
      oversize = true;
      // In the pieces that it came in: a copy would be as much memory again.
      for (const content of pending) lines.push({ content, ending: Buffer.alloc(0), oversize });
      [pending, length] = [[], 0];
    }
    yield lines;
  }
  if (pending.length > 0) yield [makeLine(pending, oversize)];
}

/** @param {Buffer[]} parts @param {boolean} oversize @returns {Line} */
function makeLine(parts, oversize) {
  const line = parts.length === 1 ? parts[0] : Buffer.concat(parts);
  let end = line.length;
  if (line[end - 1] === LF) end -= line[end - 2] === CR ? 2 : 1;
  return { content: line.subarray(0, end), ending: line.subarray(end), ...(oversize && { oversize }) };
}

/** @param {Buffer} line */
export function isBlank(line) {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === CR);
}

/**
 * Whether a line is one JSON array or object from its first bracket to its last: what tells JSON lines from a document over
 * several lines. Brackets and strings are all that is looked at, so `NaN` and other liberties of producers pass.
 *
 * @param {Buffer} line
 */
export function isWholeValue(line) {
  const text = line.toString("latin1").replace(/^\xef\xbb\xbf/, "").trim();
  if (text[0] !== "{" && text[0] !== "[") return false;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (char === '"') i = endOfString(text, i);
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return i === text.length - 1;
  }
  return false;
}

/** The index of the quote that ends the string at `start`. @param {string} text @param {number} start */
function endOfString(text, start) {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === '"') return i;
  }
  return text.length;
}
