/** How a client says who it is. */

/** The header of a name and a password. @param {string} username @param {string} password */
export function basic(username, password) {
  return { authorization: `Basic ${toBase64(new TextEncoder().encode(`${username}:${password}`))}` };
}

/** @param {Uint8Array} bytes */
export function toBase64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}
