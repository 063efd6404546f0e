/** Starts a WebAssembly module wherever it comes from, and says in words why it cannot. */
import { Token2TextError, describe, messageOf } from "./errors.js";
import { asBytes, fetchResponse, isKind } from "./source.js";

/** @typedef {string | URL | Request | Response | BufferSource | WebAssembly.Module} WasmSource */
/** @typedef {{ default(options: { module_or_path: WebAssembly.Module }): Promise<{ memory: WebAssembly.Memory }> }} StartableGlue */

/**
 * @param {StartableGlue} glue
 * @param {WasmSource | Promise<WasmSource>} source
 * @param {string} file The name of the file, for messages: `slim_bg.wasm`.
 * @returns {Promise<{ memory: WebAssembly.Memory }>}
 */
export async function instantiate(glue, source, file) {
  const module = await compile(source, file);
  try {
    return await glue.default({ module_or_path: module });
  } catch (error) {
    throw inWords(error, file);
  }
}

/**
 * @param {WasmSource | Promise<WasmSource>} source
 * @param {string} file
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compile(source, file) {
  if (typeof WebAssembly !== "object") {
    const why = "Lockdown Mode and hardened browsers switch it off";
    throw new Token2TextError("wasm_blocked", `there is no WebAssembly here (${why}), so ${file} cannot be started`);
  }
  try {
    const module = await compileAny(await source, file);
    // The glue keeps the first module it is given, also one it cannot use.
    const glue = `./${file.replace("wasm", "js")}`;
    if (WebAssembly.Module.imports(module).some((wanted) => wanted.module === glue)) return module;
    throw new Token2TextError("unreadable_source", `this WebAssembly module is not ${file}`);
  } catch (error) {
    throw inWords(error, file);
  }
}

/** @param {WasmSource} source @param {string} file */
async function compileAny(source, file) {
  if (isKind(source, "WebAssembly.Module")) return /** @type {WebAssembly.Module} */ (source);
  const bytes = asBytes(source);
  if (bytes) return WebAssembly.compile(/** @type {BufferSource} */ (bytes));
  if (typeof source !== "string" && !["URL", "Request", "Response"].some((kind) => isKind(source, kind))) {
    const wanted = "a URL, a Response, bytes or a WebAssembly.Module";
    throw new Token2TextError("invalid_options", `init takes ${file} as ${wanted}, not ${describe(source)}`);
  }
  const response = await fetchResponse(/** @type {Response} */ (source), file);
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/html")) {
    const what = `${response.url || `the Response for ${file}`} is an HTML page, not ${file}`;
    throw new Token2TextError("unreadable_source", `${what}: the server has no such file`);
  }
  // Compiling while it arrives works with this media type only, which not every server sends.
  if (type === "application/wasm") return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** What browsers and hosts say when they forbid WebAssembly: Chromium, Firefox, Safari; Cloudflare's workerd. */
const FORBIDDEN = /Content Security Policy|unsafe-eval|blocked by CSP|disallowed by embedder/i;

/** @param {unknown} error @param {string} file */
function inWords(error, file) {
  const what = messageOf(error);
  if (error instanceof Token2TextError && error.code !== "unreadable_source") return error;
  if (FORBIDDEN.test(what)) {
    const cure = /embedder/i.test(what)
      ? `this host only runs compiled modules; import one: \`import wasm from "token2text/${file}"; await init(wasm)\``
      : "the page's Content-Security-Policy forbids WebAssembly; add 'wasm-unsafe-eval' to its script-src";
    return new Token2TextError("wasm_blocked", `${file} cannot be started: ${cure}`, { cause: error });
  }
  if (error instanceof WebAssembly.CompileError || error instanceof WebAssembly.LinkError) {
    const why = `${file} is damaged, or of another version than the package: ${what}`;
    return new Token2TextError("unreadable_source", `${why}. ${whereToPut(file)}`, { cause: error });
  }
  return new Token2TextError("unreadable_source", `${what.replace(/[.]$/, "")}. ${whereToPut(file)}`, { cause: error });
}

/** @param {string} file */
function whereToPut(file) {
  const name = file.replace("_bg.wasm", "");
  const give = name === "slim" ? "init(url)" : `init(undefined, { ${name}: url })`;
  return `Serve the package's ${file} and give its address to ${give}, or import "token2text/inline"`;
}
