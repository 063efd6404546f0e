/**
 * The error of every call. `code` is stable: `invalid_tokenizer`, `unsupported_tokenizer`, `engine_not_available`,
 * `invalid_ids`, `invalid_body`, `unknown_format`, `invalid_layout`, `invalid_options`, `compressed_input`,
 * `limit_exceeded`, `not_initialised`, `freed`, `unreadable_source` (a file or URL that cannot be read), `wasm_blocked` (a
 * Content-Security-Policy or a host forbids WebAssembly), `aborted` (its `name` is `AbortError`), `instance_lost` (the
 * worker of `token2text/worker` ended before the answer; the next call starts another) and `internal` (a bug in this package).
 * Of exporters: `unreachable` (no answer from the server) and `refused` (an answer that is an error).
 */
export class Token2TextError extends Error {
  /**
   * @param {ErrorCode} code
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    /** @type {string} */
    this.name = code === "aborted" ? "AbortError" : "Token2TextError";
    /** @type {ErrorCode} */
    this.code = code;
  }
}

/**
 * @typedef {"aborted" | "compressed_input" | "engine_not_available" | "freed" | "instance_lost" | "internal" | "invalid_body" |
 *   "invalid_ids" | "invalid_layout" | "invalid_options" | "invalid_tokenizer" | "limit_exceeded" | "not_initialised" | "refused" |
 *   "unknown_format" | "unreachable" | "unreadable_source" | "unsupported_tokenizer" | "wasm_blocked"} ErrorCode
 */

/**
 * What the WebAssembly side threw, as a Token2TextError.
 *
 * @param {unknown} error
 * @returns {Token2TextError}
 */
export function asToken2TextError(error) {
  if (error instanceof Token2TextError) return error;
  // Our codes are lower case; those of Node are not.
  if (error instanceof Error && "code" in error && /^[a-z_]+$/.test(String(error.code))) {
    return new Token2TextError(/** @type {ErrorCode} */ (error.code), error.message, { cause: error });
  }
  // Rust ends the instance when an allocation fails, which cannot be told from a bug.
  const memory = error instanceof WebAssembly.RuntimeError ? ", unless WebAssembly's 4 GiB of memory ran out" : "";
  const what = `token2text failed (${messageOf(error)}); this is a bug${memory}: please report it`;
  return new Token2TextError("internal", what, { cause: error });
}

/** What went wrong, in words; fetch hides it in `cause`. @param {unknown} error */
export function messageOf(error) {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof Token2TextError) return error.message;
  return error.cause instanceof Error && error.cause.message ? `${error.message} (${error.cause.message})` : error.message;
}

/** @param {unknown} value A short description of a value for a message. */
export function describe(value) {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "string") return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}...` : value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value === "function") return "a function";
  if (typeof value === "symbol") return "a symbol";
  if (Array.isArray(value)) return "an array";
  const name = Object.getPrototypeOf(value)?.constructor?.name;
  return name && name !== "Object" ? `an object of class ${name}` : "an object";
}
