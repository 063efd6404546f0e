/** Decoding with one tokenizer: everyone in turn in one process, on the same ids, their texts compared before. */
import { jsonPath } from "./paths.mjs";
import { OURS, peersOf } from "./peers.mjs";
import { race } from "./timing.mjs";

/** @typedef {import("./peers.mjs").Host} Host */
/** @typedef {import("./peers.mjs").Decoder} Decoder */
/** One size of a corpus: where its parts start, and what the reference makes of them. @typedef {{ name: string, ids: number, batch: boolean, starts: number[], bytes: number, sha256: string }} Size */
/** @typedef {{ corpus: string, ids: Uint32Array<ArrayBuffer>, sizes: Size[] }} Corpus */
/** `us` for each list of ids; of a batch for the whole. @typedef {{ tokenizer: string, corpus: string, size: string, ids: number, peer: string, us: number, spread: number, isRight: boolean }} Row */
/** @typedef {{ name: string, lists: any[], decoder: Decoder }} Contestant */

/** Rounds, and how long they are; sizes with more ids are left out. JSON has no Infinity: null. @typedef {{ rounds: number, leastMs: number, mostIds: number | null }} Options */

export const TEXT_DECODER = "TextDecoder alone";
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * @param {Host} host
 * @param {string} key
 * @param {Corpus[]} corpora
 * @param {Options & { log?: (text: string) => void }} options
 * @returns {Promise<Row[]>}
 */
export async function contest(host, key, corpora, { rounds, leastMs, mostIds, log = () => {} }) {
  const decoders = await load(host, key, log);
  /** @type {Row[]} */
  const rows = [];
  for (const { corpus, ids, sizes } of corpora) {
    for (const size of sizes.filter((size) => countOf(size) <= (mostIds ?? Infinity))) {
      const words = size.starts.map((start) => ids.slice(start, start + size.ids));
      const numbers = words.map((list) => [...list]);
      /** @type {Record<string, boolean>} */
      const isRight = {};
      /** @type {Record<string, () => unknown>} */
      const tasks = {};
      for (const { name, takes, decoder } of decoders) {
        const lists = takes === "words" ? words : numbers;
        const verdict = await check(decoder, lists, size);
        isRight[name] = verdict === "";
        if (verdict) log(`${key}, ${corpus}, ${size.name}: ${name} ${verdict}`);
        if (verdict.startsWith("throws")) continue;
        tasks[name] = task(decoder, lists, size.batch);
      }
      if (!size.batch) tasks[TEXT_DECODER] = textDecoder(decoders, words);
      for (const [peer, { ms, spread }] of Object.entries(race(tasks, { rounds, leastMs, now: host.now }))) {
        const us = (ms * 1000) / (size.batch ? 1 : blockOf(words));
        rows.push({ tokenizer: key, corpus, size: size.name, ids: countOf(size), peer, us, spread, isRight: isRight[peer] ?? true });
      }
    }
  }
  return rows;
}

/** Ids of one call. @param {Size} size */
function countOf({ batch, ids, starts }) {
  return batch ? ids * starts.length : ids;
}

/** @param {Host} host @param {string} key @param {(text: string) => void} log */
async function load(host, key, log) {
  const json = await host.bytes(jsonPath(key));
  const loaded = [];
  for (const { name, ids, encodings, start } of peersOf(key)) {
    try {
      loaded.push({ name, takes: ids, decoder: (await start(host, encodings?.[key]))(json) });
    } catch (error) {
      log(`${key}: ${name} does not load it: ${error}`);
    }
  }
  return loaded;
}

/** What is wrong with the texts, if anything. @param {Decoder} decoder @param {any[]} lists @param {Size} size */
async function check(decoder, lists, size) {
  try {
    const texts = size.batch && decoder.decodeBatch ? decoder.decodeBatch(lists) : lists.map((ids) => decoder.decode(ids));
    return (await digest(texts, size.bytes)) === size.sha256 ? "" : "gives another text";
  } catch (error) {
    return `throws: ${String(error).slice(0, 200)}`;
  }
}

/** As in inputs.py. @param {string[]} texts @param {number} length Of the texts, if they are right. */
async function digest(texts, length) {
  const encoder = new TextEncoder();
  const parts = texts.map((text) => encoder.encode(text));
  if (parts.reduce((sum, part) => sum + part.length, 0) !== length) return "";
  const all = new Uint8Array(length + 4 * parts.length);
  const view = new DataView(all.buffer);
  let at = 0;
  for (const part of parts) {
    view.setUint32(at, part.length, true);
    all.set(part, at + 4);
    at += 4 + part.length;
  }
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", all));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Decodes so many of the lists in turn that a call is worth timing; a batch as a whole. A character of each text is read, which
 * is when V8 joins what was only strung together.
 *
 * @param {Decoder} decoder @param {any[]} lists @param {boolean} batch
 */
function task(decoder, lists, batch) {
  if (!batch) return inTurn((ids) => decoder.decode(ids), lists, blockOf(lists));
  const decodeAll = decoder.decodeBatch?.bind(decoder) ?? ((/** @type {any[]} */ all) => all.map((ids) => decoder.decode(ids)));
  return () => decodeAll(lists).reduce((sum, text) => sum + lastOf(text), 0);
}

/** @template T @param {(part: T) => string} decode @param {T[]} parts @param {number} block */
function inTurn(decode, parts, block) {
  let at = 0;
  return () => {
    let sum = 0;
    for (let i = 0; i < block; i++) {
      sum += lastOf(decode(parts[at]));
      at = at + 1 === parts.length ? 0 : at + 1;
    }
    return sum;
  };
}

/** How many lists a call decodes: some hundred ids. @param {{ length: number }[]} lists */
function blockOf(lists) {
  return Math.max(1, Math.min(lists.length, Math.floor(256 / lists[0].length)));
}

/** @param {string} text */
function lastOf(text) {
  return text.length > 0 ? text.charCodeAt(text.length - 1) : 0;
}

/** The floor: strings made of bytes that are there already. @param {{ name: string, decoder: any }[]} decoders @param {Uint32Array[]} lists */
function textDecoder(decoders, lists) {
  const ours = decoders.find(({ name }) => name === OURS)?.decoder;
  return inTurn((bytes) => utf8.decode(bytes), lists.map((ids) => /** @type {Uint8Array} */ (ours.decodeBytes(ids))), blockOf(lists));
}
