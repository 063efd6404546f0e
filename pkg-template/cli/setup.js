/** Everything a command needs before it reads its first file. */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Enricher, Token2TextError, Tokenizer, strip } from "../node.js";
import { UsageError } from "./args.js";

/** @typedef {import("./args.js").Settings} Settings */
/** @typedef {import("./run.js").Job["change"]} Change */
/** @typedef {import("../enricher.js").EnricherOptions} EnricherOptions */

/** One line or document may have this many bytes here, more than the default of the library. */
export const MAX_BODY = 1 << 30;

/** @param {Settings} settings @returns {Promise<Change>} */
export async function prepareEnrich(settings) {
  if (settings.tokenizers.length === 0) {
    throw new UsageError("enrich needs a tokenizer: --tokenizer tokenizer.json");
  }
  const options = {
    ...(await commonOptions(settings)),
    existing: /** @type {EnricherOptions["existing"]} */ (settings.existing),
    skipSpecialTokens: settings.skipSpecialTokens,
    ids: /** @type {EnricherOptions["ids"]} */ (settings.dropIds ? "drop" : "keep"),
    maxTextChars: settings.maxTextChars,
    messages: settings.messages,
  };
  const tokenizers = await loadTokenizers(settings);
  const enricher = inWords("", () => new Enricher(tokenizers, options));
  return (body, file) => enricher.enrichBody(body, { url: file });
}

/** @param {Settings} settings @returns {Promise<Change>} */
export async function prepareStrip(settings) {
  const options = { ...(await commonOptions(settings)), messages: settings.messages };
  inWords("", () => strip(new TextEncoder().encode("{}"), options));
  return (body, file) => ({ body: strip(body, { ...options, url: file }) });
}

/** @param {Settings} settings */
export async function commonOptions({ format, layouts }) {
  const given = await Promise.all(layouts.map(readLayouts));
  return {
    format: /** @type {EnricherOptions["format"]} */ (format),
    layouts: given.length > 0 ? given.flat() : undefined,
    limits: { bodyBytes: MAX_BODY },
  };
}

/** A file with one layout or an array of them; a word that is no file is the name of a built-in one. @param {string} name */
async function readLayouts(name) {
  const text = await readFile(name, "utf8").catch((error) => {
    if (error.code === "ENOENT" && /^[\w-]+$/.test(name)) return undefined;
    throw new UsageError(`cannot read the layout ${name}: ${error.message}`);
  });
  if (text === undefined) return [name];
  try {
    const layouts = JSON.parse(text);
    return Array.isArray(layouts) ? layouts : [layouts];
  } catch (error) {
    throw new UsageError(`the layout ${name} is not JSON: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {Settings} settings @param {Pick<import("../tokenizer.js").LoadOptions, "engine">} [more] */
export async function loadTokenizers({ tokenizers, config, compat }, more) {
  const sources = await tokenizerPatterns(tokenizers);
  const options = { config, compat: /** @type {import("../tokenizer.js").LoadOptions["compat"]} */ (compat), ...more };
  /** @type {Record<string, Tokenizer>} */
  const loaded = {};
  for (const [pattern, source] of sources) loaded[pattern] = await load(source, options);
  // All tokenizers of an enricher live in one WebAssembly instance.
  const engines = new Set(Object.values(loaded).map((tokenizer) => tokenizer.info.engine === "general"));
  if (engines.size > 1) {
    for (const [pattern, source] of sources) loaded[pattern] = await load(source, { ...options, engine: "general" });
  }
  return loaded;
}

/** @param {string} source @param {import("../tokenizer.js").LoadOptions} options */
async function load(source, options) {
  const isFolder = (await stat(source).catch(() => undefined))?.isDirectory();
  const path = isFolder ? join(source, "tokenizer.json") : source;
  try {
    return await Tokenizer.load(path, options);
  } catch (error) {
    if (error instanceof Token2TextError) throw new UsageError(withPlace(path, error.message));
    throw error;
  }
}

/**
 * `PATTERN=SOURCE` or a source alone, which then serves every model that no pattern matches.
 *
 * @param {string[]} given
 * @returns {Promise<[string, string][]>}
 */
export async function tokenizerPatterns(given) {
  /** @type {Map<string, string>} */
  const patterns = new Map();
  for (const text of given) {
    const at = text.indexOf("=");
    const isSource = at < 1 || /^[a-z][a-z0-9+.-]+:\/\//i.test(text) || (await stat(text).catch(() => undefined));
    const [pattern, source] = isSource ? ["*", text] : [text.slice(0, at), text.slice(at + 1)];
    if (patterns.has(pattern)) {
      const cure = "tell them apart by a pattern on the model name: --tokenizer 'Qwen/*=FILE'";
      throw new UsageError(pattern === "*" ? `several tokenizers for all models; ${cure}` : `--tokenizer names ${pattern} twice`);
    }
    patterns.set(pattern, source);
  }
  // The first match counts, so the one for all models comes last.
  const everything = patterns.get("*");
  if (everything !== undefined && patterns.delete("*")) patterns.set("*", everything);
  return [...patterns];
}

/**
 * @template T
 * @param {string} place
 * @param {() => T} work
 */
function inWords(place, work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof Token2TextError) throw new UsageError(withPlace(place, error.message));
    throw error;
  }
}

/** @param {string} place @param {string} message */
function withPlace(place, message) {
  return place === "" || message.includes(place) ? message : `${place}: ${message}`;
}
