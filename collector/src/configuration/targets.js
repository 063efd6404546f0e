/** Backends: those that a relay passes on to, and those that received spans are exported to. */
import { resolve } from "node:path";
import { readText } from "./files.js";
import { HIDDEN, parseAddress, scalar, showAddress, yesOrNo } from "./kinds.js";
import { didYouMean } from "./place.js";
import { isObject } from "./texts.js";

/** @typedef {import("./place.js").Place} Place */
/** @typedef {import("./kinds.js").Kind} Kind */
/** @typedef {import("../types.js").Backend} Backend */
/** @typedef {import("../types.js").RelayTarget} RelayTarget */
/** @typedef {import("../types.js").ExportTarget} ExportTarget */

/** @type {Backend[]} */
export const BACKENDS = ["mlflow", "trackio", "weave", "otlp"];
const RELAY = "BACKEND=LISTEN,URL, such as mlflow=127.0.0.1:5001,http://host:5000";
const EXPORT = "BACKEND=URL, such as mlflow=http://host:5000,experiment=rollouts";

/**
 * `BACKEND=LISTEN,URL`, or in a file an object `{ backend, listen, upstream }`.
 *
 * @type {Kind}
 */
export const relay = {
  placeholder: "BACKEND=LISTEN,URL",
  show: ({ backend, listen, upstream }) => ({ backend, listen: showAddress(listen), upstream: String(upstream).replace(/\/$/, "") }),
  read(value, place) {
    if (isObject(value)) return fromObject(value, place);
    const text = scalar(value, place, RELAY);
    if (text === undefined) return undefined;
    const [, backend, listen, upstream] = /^([^=,]+)=([^,]+),(.+)$/s.exec(text) ?? [];
    if (upstream === undefined) return place.fail(`\`${text}\` is not complete; write ${RELAY}`);
    return fromObject({ backend, listen, upstream }, place);
  },
};

/** @param {Record<string, unknown>} value @param {Place} place @returns {RelayTarget | undefined} */
function fromObject({ backend: name, listen: where, upstream: to, ...more }, place) {
  refuseUnknown(more, ["backend", "listen", "upstream"], place);
  const backend = backendOf(name, place.inside("backend"));
  const text = scalar(where, place.inside("listen"), "where to listen, such as 127.0.0.1:5001");
  const listen = text === undefined ? undefined : parseAddress(text, place.inside("listen"));
  const upstream = upstreamOf(to, place.inside("upstream"));
  return backend && listen && upstream ? { backend, listen, upstream } : undefined;
}

/** @param {unknown} value @param {Place} place */
function upstreamOf(value, place) {
  const url = urlOf(value, place);
  if (url === undefined) return undefined;
  if (url.username || url.password) {
    return place.fail("the URL of a relay holds no name and password; those that the client sends pass through");
  }
  if (url.search || url.hash) return place.fail(`\`${url.search || url.hash}\` cannot stand in the URL of a relay; write it without`);
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}

/** @param {unknown} value @param {Place} place @returns {Backend | undefined} */
function backendOf(value, place) {
  const name = scalar(value, place, `a backend: ${BACKENDS.join(", ")}`);
  if (name === undefined) return undefined;
  const backend = BACKENDS.find((known) => known === name);
  return backend ?? place.fail(`there is no backend \`${name}\`; they are ${BACKENDS.join(", ")}${didYouMean(name, BACKENDS)}`);
}

/** @param {unknown} value @param {Place} place */
function urlOf(value, place) {
  const text = scalar(value, place, "the address of the backend, such as http://host:5000");
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol)) return url;
  // The text may hold a password or a token.
  const shown = /[@?]/.test(text) ? "this" : `\`${text}\``;
  return place.fail(`${shown} is no address of HTTP; write it with http:// or https://, such as http://host:5000`);
}

/**
 * What a name of an export is: its option of the exporter, and which values it takes.
 *
 * @typedef {{ option: string, isSecret?: true, isYesOrNo?: true, isNeeded?: true, isPlace?: true }} ExportOption `isPlace`: it says where there spans go.
 */

/** @type {Record<Backend, Record<string, ExportOption>>} */
export const EXPORT_OPTIONS = {
  mlflow: {
    experiment: { option: "experiment", isPlace: true },
    "experiment-id": { option: "experimentId", isPlace: true },
    username: { option: "username" },
    password: { option: "password", isSecret: true },
    token: { option: "token", isSecret: true },
  },
  trackio: {
    project: { option: "project", isNeeded: true, isPlace: true },
    run: { option: "run", isPlace: true },
    token: { option: "token", isSecret: true },
    "hf-token": { option: "hfToken", isSecret: true },
  },
  weave: {
    project: { option: "project", isNeeded: true, isPlace: true },
    token: { option: "token", isSecret: true },
  },
  otlp: {
    token: { option: "token", isSecret: true },
    encoding: { option: "encoding" },
    gzip: { option: "gzip", isYesOrNo: true },
  },
};
/** Backends whose exporters send headers that are given. @type {Backend[]} */
const WITH_HEADERS = ["mlflow", "weave", "otlp"];

/**
 * `BACKEND=URL,NAME=VALUE,...`, or in a file an object with `backend`, `url` and the same names. A secret may be taken from a
 * variable (`token-env=NAME`) or a file (`token-file=PATH`), a header from a variable (`header-env.NAME=VARIABLE`).
 *
 * @type {(env: NodeJS.ProcessEnv) => Kind}
 */
export const exportTo = (env) => ({
  placeholder: "BACKEND=URL[,NAME=VALUE]",
  show: showExport,
  read(value, place) {
    if (isObject(value)) return exportOf(value, place, env);
    const text = scalar(value, place, EXPORT);
    if (text === undefined) return undefined;
    const { head, given } = cutUp(text);
    const [backend, url] = cutAt(head, "=");
    if (url === "") return place.fail(`\`${backend}\` is not complete; write ${EXPORT}`);
    return exportOf({ ...given, backend, url }, place, env);
  },
});

/**
 * What an export is called in the store, where it stands under that name for good: where spans go, and nothing secret.
 *
 * @param {ExportTarget} target
 * @example
 *   exportName({ backend: "mlflow", url: "http://host:5000/", options: { experiment: "rollouts", token: "..." } }); // "mlflow http://host:5000 experiment=rollouts"
 */
export function exportName({ backend, url, options }) {
  const { origin, pathname } = new URL(url);
  const places = Object.entries(EXPORT_OPTIONS[backend]).filter(([, { option, isPlace }]) => isPlace && options[option] !== undefined);
  return [backend, `${origin}${pathname}`.replace(/\/$/, ""), ...places.map(([name, { option }]) => `${name}=${options[option]}`)].join(" ");
}

/** @param {ExportTarget} target */
function showExport({ backend, url, options }) {
  const address = new URL(url);
  if (address.password) address.password = "hidden";
  if (address.search) address.search = "?hidden";
  const known = Object.entries(EXPORT_OPTIONS[backend]).filter(([, { option }]) => options[option] !== undefined);
  const shown = known.map(([name, { option, isSecret }]) => [name, isSecret ? HIDDEN : options[option]]);
  const headers = Object.keys(/** @type {object} */ (options.headers ?? {})).map((name) => [`header.${name}`, HIDDEN]);
  return { backend, url: String(address).replace(/\/$/, ""), ...Object.fromEntries([...shown, ...headers]) };
}

/** @param {Record<string, unknown>} value @param {Place} place @param {NodeJS.ProcessEnv} env @returns {ExportTarget | undefined} */
function exportOf({ backend: name, url: to, ...given }, place, env) {
  const backend = backendOf(name, place.inside("backend"));
  const url = urlOf(to, place.inside("url"));
  if (backend === undefined || url === undefined) return undefined;
  /** @type {Record<string, unknown>} */
  const options = {};
  /** @type {Record<string, string>} */
  const headers = {};
  for (const [key, raw] of Object.entries(given)) {
    const meaning = meaningOf(backend, key);
    if (meaning === undefined) {
      const names = exportNames(backend);
      place.inside(key, "key").fail(`an export to ${backend} has no \`${key}\`; it has ${names.join(", ")}${didYouMean(key, names)}`);
      continue;
    }
    const { option, header, from, isYesOrNo } = meaning;
    const value = isYesOrNo ? yesOrNo.read(raw, place.inside(key)) : valueFrom(from, raw, place.inside(key), env);
    if (header !== undefined) headers[header] = /** @type {string} */ (value);
    else if (option in options) place.inside(key, "key").fail(`\`${key}\` says again what another name says; leave one of them out`);
    else options[option] = value;
  }
  for (const [name, { option, isNeeded }] of Object.entries(EXPORT_OPTIONS[backend])) {
    if (isNeeded && !(option in options)) place.fail(`an export to ${backend} needs \`${name}\`; write ${backend}=${url.origin},${name}=...`);
  }
  if (Object.keys(headers).length > 0) options.headers = headers;
  return { backend, url: String(to).trim(), options };
}

/**
 * What a name of an export stands for.
 *
 * @param {Backend} backend
 * @param {string} key
 * @returns {{ option: string, header?: string, from?: string, isYesOrNo?: true } | undefined} `from`: `env` or `file`.
 */
function meaningOf(backend, key) {
  const known = EXPORT_OPTIONS[backend];
  if (Object.hasOwn(known, key)) return known[key];
  const [, name, from] = /^([a-z-]+)-(env|file)$/.exec(key) ?? [];
  if (name !== undefined && Object.hasOwn(known, name) && known[name].isSecret) return { option: known[name].option, from };
  const [header, variable, field] = /^header(-env)?\.([\w!#$%&'*+.^`|~-]+)$/.exec(key) ?? [];
  return header !== undefined && WITH_HEADERS.includes(backend) ? { option: "headers", header: field, from: variable && "env" } : undefined;
}

/**
 * The names that an export may have.
 *
 * @param {Backend} backend
 */
export function exportNames(backend) {
  const names = Object.entries(EXPORT_OPTIONS[backend]).flatMap(([name, { isSecret }]) =>
    isSecret ? [name, `${name}-env`, `${name}-file`] : [name],
  );
  return WITH_HEADERS.includes(backend) ? [...names, "header.NAME", "header-env.NAME"] : names;
}

/** The value of a secret: as it stands there, or of a variable or a file that is named. @param {string | undefined} from @param {unknown} raw @param {Place} place @param {NodeJS.ProcessEnv} env */
export function valueFrom(from, raw, place, env) {
  const text = scalar(raw, place, "a value");
  if (text === undefined || from === undefined) return text;
  if (from === "env") return env[text] || place.fail(`the variable ${text} is not set; set it, or name another`);
  const value = readText(resolve(place.folder, text), place);
  return value === undefined ? undefined : value.trim() || place.fail(`the file ${text} is empty`);
}

/** @param {Record<string, unknown>} more @param {string[]} known @param {Place} place */
function refuseUnknown(more, known, place) {
  for (const key of Object.keys(more)) {
    place.inside(key, "key").fail(`there is no key \`${key}\`; they are ${known.join(", ")}${didYouMean(key, known)}`);
  }
}

/** `HEAD,NAME=VALUE,...`; a comma before anything else belongs to the value. @param {string} text */
export function cutUp(text) {
  const [head, ...pairs] = text.split(/,(?=[a-z][\w.-]*=)/i);
  return { head, given: Object.fromEntries(pairs.map((pair) => cutAt(pair, "="))) };
}

/** @param {string} text @param {string} sign @returns {[string, string]} */
function cutAt(text, sign) {
  const at = text.indexOf(sign);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
