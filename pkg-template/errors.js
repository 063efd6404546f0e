/**
 * The error of every call. `code` is stable: `invalid_tokenizer`, `unsupported_tokenizer`, `engine_not_available`,
 * `invalid_ids`, `invalid_body`, `unknown_format`, `invalid_layout`, `invalid_options`, `compressed_input`,
 * `limit_exceeded`, `not_initialised`, `freed`, `unreadable_source` (a file or URL that cannot be read), `wasm_blocked` (a
 * Content-Security-Policy or a host forbids WebAssembly), `aborted` (its `name` is `AbortError`), `instance_lost` (the
 * worker of `token2text/worker` ended before the answer; the next call starts another) and `internal` (a bug in this package).
 */
export class Token2TextError extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {ErrorOptions} [options]
   */
  constructor(code, message, options) {
    super(message, options);
    /** @type {string} */
    this.name = code === "aborted" ? "AbortError" : "Token2TextError";
    /** @type {string} */
    this.code = code;
  }
}

/**
 * What the WebAssembly side threw, as a Token2TextError.
 *
 * @param {unknown} error
 * @returns {Token2TextError}
 */
export function asToken2TextError(error) {
  if (error instanceof Token2TextError) return error;
  if (error instanceof Error && "code" in error && typeof error.code === "string") {
    return new Token2TextError(error.code, error.message, { cause: error });
  }
  const what = messageOf(error);
  return new Token2TextError("internal", `token2text failed (${what}); this is a bug, please report it`, { cause: error });
}

/** What went wrong, in words; fetch hides it in `cause`. @param {unknown} error */
export function messageOf(error) {
  if (!(error instanceof Error)) return String(error);
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
