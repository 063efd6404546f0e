/** What can be wrong with the queue, in words. */

/** The server is not there now. */
export class Away extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "Away";
  }
}

/** The queue is not as it has to be. */
export class Unsuitable extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "Unsuitable";
  }
}

/** What the client says of a server that speaks plainly. */
const NO_TLS = "server does not support 'tls'";
const CERTIFICATE = "its certificate is of an unknown authority; name that by ca=FILE";
/** By the code of an error, the name of its class, or what it says. @type {Record<string, string>} */
const WORDS = {
  ECONNREFUSED: "nothing listens there",
  ECONNRESET: "the connection was reset",
  ENOTFOUND: "there is no such host",
  TimeoutError: "the server does not answer",
  AuthorizationError: "the server does not know these credentials; see user, password-env, token-env and creds",
  JetStreamNotEnabled: "the server has no JetStream; start it with `jetstream {}` in its configuration, or with -js",
  [NO_TLS]: "the server speaks no TLS; write nats:// in place of tls://",
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
};
/** What will not be well by itself. */
const MISTAKES = [
  "Unsuitable", "AuthorizationError", "PermissionViolationError", "JetStreamNotEnabled", NO_TLS,
  "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "ERR_TLS_CERT_ALTNAME_INVALID",
];

/** By what an error, and what it was caused by, can be told. @param {unknown} error @returns {string[]} */
function signsOf(error) {
  if (!(error instanceof Error)) return [];
  const { code, name, message, cause } = /** @type {NodeJS.ErrnoException} */ (error);
  return [String(code), name, message, ...signsOf(cause)];
}

/** @param {unknown} error */
export function inWords(error) {
  const sign = signsOf(error).find((sign) => Object.hasOwn(WORDS, sign));
  return sign === undefined ? /** @type {Error} */ (error).message : WORDS[sign];
}

/** Whether that will not be well by itself. @param {unknown} error */
export function isMistake(error) {
  return signsOf(error).some((sign) => MISTAKES.includes(sign));
}
