/**
 * Logs on standard error: a line of JSON each, or on a terminal one for people. Nothing of a payload, no value of a header and no
 * query of an address is in them.
 */
import { pino } from "pino";

/** @typedef {import("../types.js").Configuration["logLevel"]} Level */
/** @typedef {{ write(text: string): unknown, isTTY?: boolean }} Output */

/** Codes of terminals. @type {Record<string, number>} */
const COLOURS = { trace: 90, debug: 90, info: 32, warn: 33, error: 31, fatal: 31 };
const GREY = 90;

/**
 * @param {Level} level
 * @param {Output} [output] Default: standard error.
 */
export function createLog(level, output) {
  const options = {
    level,
    base: undefined,
    formatters: { level: (/** @type {string} */ level) => ({ level }) },
    timestamp: pino.stdTimeFunctions.isoTime,
    serializers: { err: pino.stdSerializers.err, req: requestOf },
  };
  const isTerminal = (output ?? process.stderr).isTTY === true;
  if (isTerminal) return pino(options, forPeople(output ?? process.stderr, process.env.NO_COLOR === undefined));
  return pino(options, output ?? pino.destination({ dest: 2, sync: true }));
}

/** What of a request may be told: not its query, where tokens can stand. @param {{ method?: string, url?: string, id?: unknown }} request */
function requestOf({ id, method, url = "" }) {
  return { id, method, path: url.split("?", 1)[0] };
}

/**
 * A destination of pino that writes each line as `12:03:01 warn  a body goes on as it came  reason=timeout`.
 *
 * @param {Output} output
 * @param {boolean} hasColours
 */
export function forPeople(output, hasColours) {
  const colour = (/** @type {number} */ code, /** @type {string} */ text) => (hasColours ? `\x1b[${code}m${text}\x1b[0m` : text);
  return {
    /** @param {string} line */
    write(line) {
      const { level, time, msg, err, ...rest } = JSON.parse(line);
      const facts = Object.entries(rest).map(([key, value]) => `  ${colour(GREY, `${key}=`)}${plain(value)}`);
      const cause = err === undefined ? "" : `  ${colour(GREY, "error=")}${escaped(err.message)}`;
      const head = `${colour(GREY, time.slice(11, 19))} ${colour(COLOURS[level], level.padEnd(5))}`;
      output.write(`${head} ${escaped(String(msg ?? ""))}${facts.join("")}${cause}\n`);
    },
  };
}

/** @param {unknown} value */
function plain(value) {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? escaped(value) : escaped(JSON.stringify(value) ?? "");
}

/** Text from outside must not steer the terminal. @param {string} text */
export function escaped(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\x${c.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
