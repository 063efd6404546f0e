/**
 * The kinds of values. A value is text on the command line and in variables; in a file it may be a number, true or false, a list
 * or an object too.
 */
import { isIP } from "node:net";
import { hostname } from "node:os";
import { dirname, resolve } from "node:path";
import { isWildcard } from "../operations/access.js";
import { readText, statOf } from "./files.js";
import { didYouMean } from "./place.js";

/** @typedef {import("./place.js").Place} Place */
/**
 * @typedef {object} Kind
 * @property {string} placeholder What --help shows for a value; "" for what needs none.
 * @property {string} [expected] The words that it takes, if these are few.
 * @property {(value: unknown, place: Place) => unknown} read Undefined if the value was wrong, which the place has been told.
 * @property {(value: unknown, place: Place) => [unknown, Place][] | undefined} [members] The values in what is no list, if it holds several.
 * @property {(value: any) => unknown} [show] The value as a file has it, without secrets. Default: as it is.
 */

/** What is shown instead of a secret. */
export const HIDDEN = "(hidden)";

/**
 * One word or number as text.
 *
 * @param {unknown} value
 * @param {Place} place
 * @param {string} expected For the message.
 */
export function scalar(value, place, expected) {
  if (typeof value === "string" && value.trim() !== "") return value.trim();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return place.fail(`${spelled(value)}; write ${expected}`);
}

/** A value that is no text, number or yes or no, in words. @param {unknown} value */
function spelled(value) {
  const isNothing = value === null || value === undefined || typeof value === "string";
  return isNothing ? "nothing is given" : `\`${JSON.stringify(value)}\` is not usable here`;
}

/**
 * A kind whose values are read from one word.
 *
 * @param {string} placeholder
 * @param {string} expected What to write instead of a wrong value.
 * @param {(text: string, place: Place) => unknown} parse Undefined: the text is wrong; null: wrong too, and the place was told.
 * @param {(value: any) => unknown} [show]
 * @returns {Kind}
 */
function word(placeholder, expected, parse, show) {
  return {
    placeholder,
    show,
    read(value, place) {
      const text = scalar(value, place, expected);
      if (text === undefined) return undefined;
      const parsed = parse(text, place);
      return parsed === undefined ? place.fail(`\`${text}\` is not usable here; write ${expected}`) : (parsed ?? undefined);
    },
  };
}

/** @param {string[]} choices */
export function choice(choices) {
  const expected = `${choices.slice(0, -1).join(", ")} or ${choices[choices.length - 1]}`;
  const kind = word("WHAT", expected, (text, place) => {
    if (choices.includes(text)) return text;
    return place.fail(`\`${text}\` is none of ${choices.join(", ")}${didYouMean(text, choices)}`) ?? null;
  });
  return { ...kind, expected };
}

/** @type {Kind} */
export const yesOrNo = word("", "true or false", (text) => {
  if (["true", "yes", "on", "1"].includes(text.toLowerCase())) return true;
  return ["false", "no", "off", "0"].includes(text.toLowerCase()) ? false : undefined;
});

/** A share of all samples, above 0 and at most 1. */
export const share = word("SHARE", "a share above 0 and up to 1, such as 0.1 or 10%", (text) => {
  const [, digits, percent] = /^(\d+(?:\.\d+)?|\.\d+)(\s*%)?$/.exec(text) ?? [];
  const value = Number(digits) / (percent ? 100 : 1);
  return value > 0 && value <= 1 ? value : undefined;
});

/** @param {number} least @param {number} most */
export function wholeNumber(least, most) {
  const expected = most === Infinity ? `a whole number from ${least} on` : `a whole number from ${least} to ${most}`;
  return word("N", expected, (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    return value >= least && value <= most ? value : undefined;
  });
}

const SIZES = { "": 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 };
/** A number of bytes. */
export const bytes = word(
  "SIZE",
  "a size such as 64MiB, 1GiB or 1000000",
  (text) => {
    const [, digits, unit = ""] = /^(\d{1,12}(?:\.\d{1,3})?)\s*([kmg]?i?b)?$/i.exec(text) ?? [];
    const value = Math.round(Number(digits) * SIZES[/** @type {keyof typeof SIZES} */ (unit.toLowerCase())]);
    return value > 0 && value <= 2 ** 40 ? value : undefined;
  },
  (value) => spelledIn(value, { GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10 }),
);

const TIMES = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/**
 * A time in milliseconds; the unit must be said, for both are usual.
 *
 * @param {string} examples
 * @param {number} below
 */
function time(examples, below) {
  const parse = (/** @type {string} */ text) => {
    const [, digits, unit] = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)$/.exec(text) ?? [];
    const value = Math.round(Number(digits) * TIMES[/** @type {keyof typeof TIMES} */ (unit)]);
    return value > 0 && value < below ? value : undefined;
  };
  const { d, h, m, s, ms } = TIMES;
  return word("TIME", `a time with its unit, such as ${examples}`, parse, (value) => spelledIn(value, { d, h, m, s, ms }));
}
/** Node's timers hold no more than this bound. */
export const duration = time("10s, 500ms or 2m", 2 ** 31);
/** Without a timer of its own. */
export const age = time("12h or 7d", Infinity);

/** @param {number} value @param {Record<string, number>} units The largest first. */
function spelledIn(value, units) {
  const unit = Object.keys(units).find((name) => value % units[name] === 0);
  return unit === undefined ? value : `${value / units[unit]}${unit}`;
}

const ADDRESS = "HOST:PORT, such as 127.0.0.1:4318, or a port alone for this machine only";

/**
 * Where to listen.
 *
 * @param {string} text
 * @param {Place} place
 * @returns {import("../types.js").Address | undefined}
 */
export function parseAddress(text, place) {
  if (/^:\d+$/.test(text)) {
    const port = text.slice(1);
    return place.fail(`\`${text}\` names no host; write ${port} for this machine only, or 0.0.0.0:${port} for every network`);
  }
  const [, bracketed, name, digits] = /^(?:(?:\[([^\]]+)\]|([^:/\s[\]]+)):)?(\d{1,5})$/.exec(text) ?? [];
  const host = bracketed ?? name ?? "127.0.0.1";
  const port = Number(digits);
  if (digits === undefined || port > 65535 || (bracketed !== undefined && isIP(bracketed) !== 6)) {
    return place.fail(`\`${text}\` is no address to listen on; write ${ADDRESS}`);
  }
  return { host, port };
}

/** @param {import("../types.js").Address} address */
export function showAddress({ host, port }) {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`;
}

/** The address as clients write it; of every interface, by this machine's name. @param {import("../types.js").Address} address */
export function clientUrl({ host, port }) {
  return `http://${showAddress({ host: isWildcard(host) ? hostname() : host, port })}`;
}

/** Where to listen. */
export const address = word("HOST:PORT", ADDRESS, (text, place) => parseAddress(text, place) ?? null, showAddress);

/** A host as it stands in `Host`, without its port. */
export const hostName = word("NAME", "a name or an IP address, without http:// and without a port", (text) => {
  const name = text.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "").toLowerCase();
  return isIP(name) !== 0 || /^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?$/.test(name) ? name : undefined;
});

/** An origin as browsers write it. */
export const origin = word("ORIGIN", "an origin such as https://traces.example.org, or * for all", (text) => {
  if (text === "*") return text;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.pathname === "/" && !url.search && !url.username;
  return isOrigin ? url.origin : undefined;
});

/** What may stand in a header after `Bearer `. */
export const secret = word(
  "TOKEN",
  "a token of visible characters, without blanks",
  // It is not repeated.
  (text, place) => parseSecret(text) ?? place.fail("it is no token: visible characters, without blanks") ?? null,
  () => HIDDEN,
);

/** @param {string} text */
function parseSecret(text) {
  return /^[\x21-\x7e]+$/.test(text) ? text : undefined;
}

/** A file that holds such a token and nothing else. */
export const secretFile = word("FILE", "the path of a file", (name, place) => {
  const text = readText(resolve(place.folder, name), place)?.trim();
  if (text === undefined) return null;
  return parseSecret(text) ?? place.fail(`the file ${name} holds no token: one line of visible characters, without blanks`) ?? null;
}, () => HIDDEN);

/** A file that is there. Its path becomes absolute. */
export const file = word("FILE", "the path of a file", (name, place) => {
  const path = resolve(place.folder, name);
  const found = statOf(path, place);
  if (found === undefined) return null;
  return found.isDirectory() ? (place.fail(`${name} is a folder; write the path of a file`) ?? null) : path;
});

/** A file that is made when it is needed, in a folder that is there. */
export const keptFile = word("FILE", "the path of a file", (name, place) => {
  const path = resolve(place.folder, name);
  if (statOf(path)?.isDirectory()) return place.fail(`${name} is a folder; write the path of a file`) ?? null;
  return statOf(dirname(path)) === undefined ? (place.fail(`there is no folder ${dirname(path)}; make it, or name another file`) ?? null) : path;
});

/** A folder that is made when it is needed, or none. */
export const folder = word("DIR", "the path of a folder, or none", (name, place) => {
  if (name === "none") return "none";
  const path = resolve(place.folder, name);
  const found = statOf(path);
  return found !== undefined && !found.isDirectory() ? (place.fail(`${name} is no folder; write the path of one, or none`) ?? null) : path;
});
