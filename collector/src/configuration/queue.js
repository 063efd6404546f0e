/** The queue: a stream of NATS JetStream, and how it is reached. */
import { cutUp, valueFrom } from "./targets.js";
import { HIDDEN, bytes, duration, file, name, scalar, wholeNumber } from "./kinds.js";
import { didYouMean } from "./place.js";
import { isObject } from "./texts.js";

/** @typedef {import("./place.js").Place} Place */
/** @typedef {import("./kinds.js").Kind} Kind */
/** @typedef {import("../types.js").QueueTarget} QueueTarget */

const QUEUE = "nats://HOST:PORT, such as nats://nats.example:4222, or tls:// for TLS";
/** What servers listen on if nothing else was said (nats-server, `port`). */
const PORT = "4222";

/**
 * What a name of the queue is: its option, and the kind of its value; none: a secret.
 *
 * @type {Record<string, { option: keyof QueueTarget["options"], kind?: Kind }>}
 */
export const QUEUE_OPTIONS = {
  stream: { option: "stream", kind: name },
  "ack-wait": { option: "ackWaitMillis", kind: duration },
  "max-bytes": { option: "maxBytes", kind: bytes },
  replicas: { option: "replicas", kind: wholeNumber(1, 5) },
  user: { option: "user" },
  password: { option: "password" },
  token: { option: "token" },
  creds: { option: "creds", kind: file },
  ca: { option: "ca", kind: file },
  cert: { option: "cert", kind: file },
  key: { option: "key", kind: file },
};

/** The names that may follow the address. */
export const QUEUE_NAMES = Object.entries(QUEUE_OPTIONS).flatMap(([name, { kind }]) => (kind ? [name] : [name, `${name}-env`, `${name}-file`]));

/**
 * `nats://HOST:PORT,NAME=VALUE,...`, or in a file an object with `url` and the same names. A secret may be taken from a variable
 * (`password-env=NAME`) or a file (`password-file=PATH`).
 *
 * @type {(env: NodeJS.ProcessEnv) => Kind}
 */
export const queueAt = (env) => ({
  placeholder: "nats://HOST:PORT[,NAME=VALUE]",
  show: showQueue,
  read(value, place) {
    if (isObject(value)) return queueOf(value, place, env);
    const text = scalar(value, place, QUEUE);
    if (text === undefined) return undefined;
    const { head, given } = cutUp(text);
    return queueOf({ ...given, url: head }, place, env);
  },
});

/** @param {QueueTarget} target */
function showQueue({ url, options }) {
  const given = Object.entries(QUEUE_OPTIONS).filter(([, { option }]) => options[option] !== undefined);
  const shown = given.map(([name, { option, kind }]) => [name, kind ? (kind.show?.(options[option]) ?? options[option]) : HIDDEN]);
  return { url, ...Object.fromEntries(shown) };
}

/** @param {Record<string, unknown>} value @param {Place} place @param {NodeJS.ProcessEnv} env @returns {QueueTarget | undefined} */
function queueOf({ url: to, ...given }, place, env) {
  const url = urlOf(to, place.inside("url"));
  /** @type {Record<string, unknown>} */
  const options = { stream: "token2text" };
  /** @type {Set<string>} */
  const named = new Set();
  for (const [key, raw] of Object.entries(given)) {
    const [, plain = key, from] = /^([a-z-]+)-(env|file)$/.exec(key) ?? [];
    const known = Object.hasOwn(QUEUE_OPTIONS, key) ? QUEUE_OPTIONS[key] : QUEUE_NAMES.includes(key) ? QUEUE_OPTIONS[plain] : undefined;
    if (known === undefined) {
      place.inside(key, "key").fail(`a queue has no \`${key}\`; it has ${QUEUE_NAMES.join(", ")}${didYouMean(key, QUEUE_NAMES)}`);
      continue;
    }
    const { option, kind } = known;
    if (named.has(option)) place.inside(key, "key").fail(`\`${key}\` says again what another name says; leave one of them out`);
    named.add(option);
    const read = kind ? kind.read(raw, place.inside(key)) : valueFrom(from, raw, place.inside(key), env);
    if (read !== undefined) options[option] = read;
  }
  for (const [name, other] of /** @type {const} */ ([["user", "password"], ["password", "user"], ["cert", "key"], ["key", "cert"]])) {
    if (named.has(name) && !named.has(other)) place.fail(`\`${name}\` is given without \`${other}\`; write both`);
  }
  return url === undefined ? undefined : { url, options: /** @type {QueueTarget["options"]} */ (options) };
}

/** @param {unknown} value @param {Place} place */
function urlOf(value, place) {
  const text = scalar(value, place, QUEUE);
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.username || url?.password) {
    return place.fail("the address of a queue holds no name and password; write them as user=NAME,password-env=VARIABLE");
  }
  const isAddress = url !== undefined && /^(nats|tls):$/.test(url.protocol) && url.hostname !== "" && /^\/?$/.test(url.pathname) && !url.search && !url.hash;
  return isAddress ? `${url.protocol}//${url.hostname}:${url.port || PORT}` : place.fail(`\`${text}\` is no address of a queue; write ${QUEUE}`);
}
