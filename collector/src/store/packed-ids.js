/** Ids of traces as one value: before each stands its length, in four bytes, the most significant first. An id may have any length. */

/** Bytes of a length. */
export const HEAD = 4;

/** @param {Buffer[]} ids @returns {Buffer} */
export function packed(ids) {
  const value = Buffer.allocUnsafe(ids.reduce((sum, { length }) => sum + HEAD + length, 0));
  let at = 0;
  for (const id of ids) {
    value.writeUInt32BE(id.length, at);
    id.copy(value, at + HEAD);
    at += HEAD + id.length;
  }
  return value;
}

/** @param {Buffer} value @returns {string[]} Each in latin1, whose order is that of the bytes. */
export function unpacked(value) {
  const ids = [];
  for (let at = 0; at < value.length; ) {
    const end = at + HEAD + value.readUInt32BE(at);
    ids.push(value.toString("latin1", at + HEAD, end));
    at = end;
  }
  return ids;
}
