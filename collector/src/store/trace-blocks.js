/**
 * Entries of the index of traces, some twenty in one value: a row for each would cost SQLite more than all else of a body. An entry is
 * the length of a trace's id, in four bytes, the number of a body, in six, the most significant first, and the id.
 */

/** A trace, by its id in latin1, has spans in a body. @typedef {{ trace: string, body: number }} Entry */

const LENGTH = 4;
const BODY = 6;
const HEAD = LENGTH + BODY;
/** Of one block, unless an id is longer: some twenty entries. Of longer ones, more would be read for nothing. */
export const BLOCK_BYTES = 520;

/** Where the block ends that begins with an entry. @param {Entry[]} entries @param {number} from @returns {number} */
export function endOfBlock(entries, from) {
  let end = from;
  let bytes = 0;
  do bytes += HEAD + entries[end++].trace.length;
  while (end < entries.length && bytes + HEAD + entries[end].trace.length <= BLOCK_BYTES);
  return end;
}

/** @param {Entry[]} entries @returns {Buffer} */
export function blockOf(entries) {
  const block = Buffer.allocUnsafe(entries.reduce((sum, { trace }) => sum + HEAD + trace.length, 0));
  let at = 0;
  for (const { trace, body } of entries) {
    at = block.writeUInt32BE(trace.length, at);
    at = block.writeUIntBE(body, at, BODY);
    at += block.write(trace, at, "latin1");
  }
  return block;
}

/** @param {Buffer} block @returns {Generator<Entry>} */
export function* entriesOf(block) {
  for (let at = 0; at < block.length; ) {
    const id = at + HEAD;
    const end = id + block.readUInt32BE(at);
    yield { trace: block.toString("latin1", id, end), body: block.readUIntBE(at + LENGTH, BODY) };
    at = end;
  }
}

/**
 * The last byte of each id: where that of a trace is not among them, the block need not be read. Ids are random, so that few are.
 *
 * @param {Entry[]} entries
 * @returns {Buffer}
 */
export function marksOf(entries) {
  return Buffer.from(entries.map(({ trace }) => trace.charCodeAt(trace.length - 1) || 0));
}

/** What to look for in marks. @param {Buffer} trace @returns {Buffer} */
export function markOf(trace) {
  return Buffer.of(trace.at(-1) ?? 0);
}

/** Bodies of one trace. @param {Buffer} block @param {Buffer} trace @returns {number[]} */
export function bodiesIn(block, trace) {
  const bodies = [];
  for (let at = 0; at < block.length; ) {
    const id = at + HEAD;
    const end = id + block.readUInt32BE(at);
    if (end - id === trace.length && block.compare(trace, 0, trace.length, id, end) === 0) bodies.push(block.readUIntBE(at + LENGTH, BODY));
    at = end;
  }
  return bodies;
}
