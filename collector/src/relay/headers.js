/**
 * Headers as they came: names and values by turns, as `rawHeaders` of Node has them, so that order, spelling and repetition stay.
 *
 * @typedef {string[]} Headers
 */

/** Headers of one connection only (RFC 9110, 7.6.1), like those that `Connection` names. */
const HOP_BY_HOP = ["connection", "proxy-connection", "keep-alive", "te", "upgrade"];

/** What is never dropped, whatever `Connection` names: a body goes on framed as it came. */
const FRAMING = ["host", "content-length", "transfer-encoding"];

/** What is said of the bytes of a body, and not true any more of others. */
const OF_THE_BYTES = ["content-md5", "digest", "content-digest", "repr-digest"];

/** What is said of the version of an answer. */
const OF_THE_VERSION = ["etag", "last-modified", "accept-ranges"];

/**
 * The value of a header; of several with one name, all.
 *
 * @param {Headers} headers
 * @param {string} name In lower case.
 * @returns {string | undefined}
 * @example
 *   valueOf(["Vary", "a", "vary", "b"], "vary"); // "a, b"
 */
export function valueOf(headers, name) {
  const values = headers.filter((_, i) => i % 2 === 1 && headers[i - 1].toLowerCase() === name);
  return values.length > 0 ? values.join(", ") : undefined;
}

/**
 * @param {Headers} headers
 * @param {string[]} names In lower case.
 * @returns {Headers}
 */
export function without(headers, names) {
  return headers.filter((_, i) => !names.includes(headers[i - (i % 2)].toLowerCase()));
}

/**
 * Headers with another value where one of that name stands; its name keeps its spelling.
 *
 * @param {Headers} headers
 * @param {string} name In lower case.
 * @param {string} value
 * @returns {Headers}
 */
export function replaced(headers, name, value) {
  return headers.map((text, i) => (i % 2 === 1 && headers[i - 1].toLowerCase() === name ? value : text));
}

/**
 * What goes on from one connection to the next.
 *
 * @param {Headers} headers
 * @param {string[]} more Names, in lower case, of headers of the connection that are true of the next one too.
 * @returns {Headers}
 */
function endToEnd(headers, more) {
  const named = valueOf(headers, "connection")?.toLowerCase().split(",") ?? [];
  const names = [...HOP_BY_HOP, ...named.map((name) => name.trim())];
  const kept = without(headers, names.filter((name) => !FRAMING.includes(name) && !more.includes(name)));
  // Trailers need chunks; Node refuses to announce them otherwise.
  return isChunked(kept) ? kept : without(kept, ["trailer"]);
}

/**
 * An answer's headers as the client gets them. How long the backend keeps its idle connection is how long the relay keeps the client's.
 *
 * @param {Headers} headers
 * @returns {Headers}
 */
export function backwards(headers) {
  return endToEnd(headers, ["keep-alive"]);
}

/**
 * A request's headers as the backend gets them.
 *
 * @param {Headers} headers
 * @param {URL} upstream
 * @returns {Headers}
 */
export function towards(headers, upstream) {
  const host = valueOf(headers, "host");
  const kept = replaced(endToEnd(headers, []), "host", upstream.host);
  // Only HTTP/1.0 may come without.
  if (host === undefined) kept.unshift("Host", upstream.host);
  // A page of the backend itself, which came through this relay. Backends refuse other origins than their own.
  return valueOf(headers, "origin") === `http://${host}` ? replaced(kept, "origin", upstream.origin) : kept;
}

/**
 * The headers of a message with another body.
 *
 * @param {Headers} headers
 * @param {number} length Of the body.
 * @returns {Headers}
 */
export function withBody(headers, length) {
  return replaced(without(headers, OF_THE_BYTES), "content-length", String(length));
}

/** The trailers of a message with another body. @param {Headers} trailers @returns {Headers} */
export function trailersWithBody(trailers) {
  return without(trailers, OF_THE_BYTES);
}

/** The headers of an answer with another body. @param {Headers} headers @param {number} length @returns {Headers} */
export function answerWithBody(headers, length) {
  return without(withBody(headers, length), OF_THE_VERSION);
}

/** The headers of an answer whose body changes while it streams. @param {Headers} headers @returns {Headers} */
export function answerOfUnknownLength(headers) {
  const kept = without(headers, [...OF_THE_BYTES, ...OF_THE_VERSION, "content-length"]);
  return isChunked(kept) ? kept : [...kept, "Transfer-Encoding", "chunked"];
}

/** Whether a body comes in chunks, its length unknown. @param {Headers} headers */
export function isChunked(headers) {
  return valueOf(headers, "transfer-encoding") !== undefined;
}

/** Whether a message has a body, however long. @param {Headers} headers */
export function hasBody(headers) {
  return isChunked(headers) || Number(valueOf(headers, "content-length") ?? 0) > 0;
}

/** Headers as pairs. @param {Headers} headers @returns {[string, string][]} */
export function pairs(headers) {
  /** @type {[string, string][]} */
  const found = [];
  for (let i = 0; i + 1 < headers.length; i += 2) found.push([headers[i], headers[i + 1]]);
  return found;
}
