/** The tokenizers of the viewer: which decodes which model, and those that stay in the browser. */
import { Tokenizer } from "token2text";
import { deleteEntries, listEntries, readEntry, touchEntry, writeEntry } from "token2text/cache-store";
import { isPacked } from "token2text/packed";
import { readChunks } from "token2text/source";
import { VERSION } from "token2text/version";
import type { KeptTokenizer, OnProgress, Source, TokenizerFacts } from "./contract.js";
import { failure } from "./errors.js";
import { blobOf } from "./sources.js";

interface Loaded {
  tokenizer: Tokenizer;
  /** What it was made of. */
  blob: Blob;
  canEncode: boolean;
}

/** So many are kept, and so many bytes of them. */
const BOUNDS = { maxEntries: 8, maxBytes: 64 << 20 };
/** Tokenizers that other pages of the origin keep have other keys. */
const KEY = "viewer:";

export class Tokenizers {
  #loaded = new Map<string, Loaded>();

  /** By pattern, as the package takes them. */
  get byPattern(): Record<string, Tokenizer> {
    // A pattern that says more counts before one that takes all.
    const patterns = [...this.#loaded.keys()].sort((a, b) => b.replaceAll("*", "").length - a.replaceAll("*", "").length);
    return Object.fromEntries(patterns.map((pattern) => [pattern, this.of(pattern)!]));
  }

  /** The tokenizer of a pattern. */
  of(pattern: string | undefined): Tokenizer | undefined {
    return pattern === undefined ? undefined : this.#loaded.get(pattern)?.tokenizer;
  }

  async load(source: Source, { pattern = "*", keep = false }: { pattern?: string; keep?: boolean }, onProgress: OnProgress, signal: AbortSignal): Promise<TokenizerFacts> {
    const tell = ({ loaded, total }: { loaded: number; total?: number }) => onProgress({ what: "Reading", done: loaded, total });
    const blob = source.kind === "kept" ? await keptBlob(source.key) : await blobOf(source, tell, signal);
    const canEncode = !(await startsPacked(blob, signal));
    const tokenizer = await Tokenizer.load(blob, { signal, onProgress: tell });
    this.#loaded.get(pattern)?.tokenizer.free();
    this.#loaded.set(pattern, { tokenizer, blob, canEncode });
    const name = nameOf(source);
    if (keep && source.kind !== "kept") await keepPacked(name, tokenizer);
    const { vocabSize, decoder, specialTokens } = tokenizer.info;
    return { name, pattern, vocabSize, decoder, canEncode, specialTokens };
  }

  /** The same tokenizer with what encodes: of the general engine. Its owner frees it. */
  async encoding(pattern: string, onProgress: OnProgress): Promise<Tokenizer> {
    const loaded = this.#loaded.get(pattern);
    if (!loaded) throw failure("no_tokenizer", "No tokenizer is loaded for this model");
    if (!loaded.canEncode) throw failure("engine_not_available", "A packed tokenizer cannot encode. Open its tokenizer.json to look at re-tokenization");
    return Tokenizer.load(loaded.blob, { engine: "general", onProgress: ({ loaded: done, total }) => onProgress({ what: "Loading the encoder", done, total }) });
  }
}

export async function keptTokenizers(): Promise<KeptTokenizer[]> {
  if (typeof indexedDB !== "object") return [];
  const entries = (await listEntries()).filter(({ key }) => key.startsWith(KEY));
  return entries.map(({ key, bytes, used }) => ({ key, name: key.slice(KEY.length), bytes, used })).sort((a, b) => b.used - a.used);
}

export async function forgetTokenizers(): Promise<void> {
  await deleteEntries((await keptTokenizers()).map(({ key }) => key));
}

async function keepPacked(name: string, tokenizer: Tokenizer): Promise<void> {
  await writeEntry(KEY + name, { version: VERSION, etag: null, lastModified: null, packed: tokenizer.pack() }, BOUNDS);
}

async function keptBlob(key: string): Promise<Blob> {
  const entry = await readEntry(key);
  if (!entry) throw failure("unreadable_source", "This tokenizer is no longer kept in the browser. Open its file again");
  await touchEntry(key);
  return new Blob([entry.packed as BlobPart]);
}

async function startsPacked(blob: Blob, signal: AbortSignal): Promise<boolean> {
  for await (const chunk of readChunks(blob, { what: "tokenizer", limit: Infinity, signal })) return isPacked(chunk);
  return false;
}

function nameOf(source: Source): string {
  return "name" in source ? source.name : source.url;
}
