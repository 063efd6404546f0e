/// <reference lib="esnext.disposable" preserve="true" />
import { load } from "./engines.js";
import { Token2TextError, asToken2TextError, describe } from "./errors.js";
import { checkOptions, optionsText, tokenizerEntries } from "./options.js";
import { Tokenizer, coreIn, instanceOf } from "./tokenizer.js";

/** @typedef {import("./engines.js").Instance} Instance */
/** @typedef {import("./general.js").RolloutsCore} Core */
/** @typedef {import("./rollout.js").Rollout} Rollout */
/** @typedef {import("./rollout.js").RolloutOverview} RolloutOverview */
/** @typedef {import("./rollout.js").RolloutSpan} RolloutSpan */
/** @typedef {import("./rollout.js").SkippedPart} SkippedPart */
/** @typedef {import("./rollout.js").TokenNumbers} TokenNumbers */
/** @typedef {import("./span.js").Span} Span */
/**
 * @typedef {object} CheckOptions
 * @property {boolean} [drift] Whether each text is encoded again, and where that gives other ids than the trace has. The tokenizers
 *   must be loaded with `engine: "general"`. It takes longer than all the rest. Default: false.
 * @property {number} [maxTokens] Most tokens of a call, padding apart; more is a finding. Default: no limit but that of the request.
 * @property {string} [template] Name of the chat template. Default: the one whose marks the tokenizer has.
 */
/** @typedef {[pattern: string, tokenizer: Tokenizer][]} Entries */

export const CHECKS = ["drift", "maxTokens", "template"];
const CREATE = Symbol("create");

/**
 * A body and where it comes from, checked.
 *
 * @typedef {object} Body
 * @property {number} bytes How many it has; 0 if nobody knows.
 * @property {AsyncIterable<Uint8Array> | Iterable<Uint8Array>} pieces
 * @property {string} contentType
 * @property {string} url
 * @property {Uint8Array} infos
 * @property {string} json The options that cross the boundary.
 * @property {CheckOptions} options Those of them that `use` may change.
 */

/** Reads a body that was checked. @type {(body: Body, entries: Entries, call: string) => Promise<RolloutReader>} */
export let open;

/**
 * The rollouts of a body, which stay in WebAssembly memory and are looked at one by one. Made by `await openRollouts(...)`; free it
 * when it is no longer needed.
 */
export class RolloutReader {
  /** @type {Core | undefined} */
  #core;
  #instance;
  #isGeneral;
  /** @type {CheckOptions} */
  #options;
  #length = 0;
  /** @type {SkippedPart[]} */
  #skipped = [];

  static {
    open = async (body, entries, call) => {
      const instance = /** @type {Instance} */ (await load(body.options.drift ? "general" : "reader", call));
      checkDrift(body.options, entries, instance);
      const reader = new RolloutReader(CREATE, instance, body.options);
      try {
        await reader.#read(body, entries);
      } catch (error) {
        reader.free();
        throw asToken2TextError(error);
      }
      return reader;
    };
  }

  /** @param {symbol} key @param {Instance} instance @param {CheckOptions} options @private */
  constructor(key, instance, options) {
    if (key !== CREATE) {
      throw new Token2TextError("invalid_options", "a RolloutReader is not made with `new`; use `await openRollouts(bytes, tokenizers)`");
    }
    this.#instance = instance;
    this.#isGeneral = options.drift === true;
    this.#options = options;
    this.#core = new instance.glue.RolloutsCore();
  }

  /** How many rollouts there are. */
  get length() {
    this.#alive();
    return this.#length;
  }

  /** What of the body could not be read. */
  get skipped() {
    return this.#skipped;
  }

  /**
   * What is known of rollouts without decoding them: the lines of a list.
   *
   * @param {number} [from] Position of the first. Default: 0.
   * @param {number} [to] Position behind the last. Default, and at most: `length`.
   * @returns {RolloutOverview[]}
   */
  overview(from = 0, to = this.#length) {
    const core = this.#alive();
    if (!isPosition(from) || !isPosition(to) || from > to || from > this.#length) {
      throw new Token2TextError("invalid_options", `overview(${shown(from)}, ${shown(to)}): there are ${this.#length} rollouts`);
    }
    return JSON.parse(asked(() => core.overview(from, Math.min(to, this.#length))));
  }

  /**
   * A rollout as `readRollouts` has it.
   *
   * @param {number} at Its position.
   * @returns {Rollout}
   */
  rollout(at) {
    const [json, ids] = /** @type {[string, Uint32Array]} */ (this.#ask(at, (core) => core.rollout(at)));
    /** @type {Rollout} */
    const rollout = JSON.parse(json);
    let start = 0;
    for (const call of rollout.calls) {
      const count = /** @type {{ ids: number }} */ (/** @type {unknown} */ (call)).ids;
      // Each has a buffer of its own, so that it can be moved to another thread.
      call.ids = ids.slice(start, start + count);
      start += count;
    }
    return rollout;
  }

  /**
   * What each call adds to those before, so that every token of the rollout is there once; nothing is decoded. Its position, where in
   * its ids that begins, and these ids.
   *
   * @param {number} at Position of the rollout.
   * @returns {{ tokenizer?: string, calls: { call: number, first: number, ids: Uint32Array<ArrayBuffer> }[] }} With the pattern of the
   *   tokenizer, if one is for its model.
   */
  added(at) {
    const [json, ids] = /** @type {[string, Uint32Array<ArrayBuffer>]} */ (this.#ask(at, (core) => core.added(at)));
    /** @type {[string | null, ...number[]]} */
    const [tokenizer, ...numbers] = JSON.parse(json);
    const calls = [];
    for (let at = 0, start = 0; at < numbers.length; at += 3) {
      const [call, first, count] = numbers.slice(at, at + 3);
      calls.push({ call, first, ids: ids.slice(start, (start += count)) });
    }
    return { ...(tokenizer === null ? {} : { tokenizer }), calls };
  }

  /**
   * The numbers that stand beside the ids of each call: log-probabilities, and every other list of numbers in its span that is as
   * long as the response, the prompt or both: entropies, advantages, values.
   *
   * @param {number} at Position of the rollout.
   * @returns {TokenNumbers[][]} For each call a list.
   */
  numbers(at) {
    const [json, values] = /** @type {[string, Float64Array<ArrayBuffer>]} */ (this.#ask(at, (core) => core.numbers(at)));
    /** @type {[tokens: number, ...names: string[]][]} */
    const calls = JSON.parse(json);
    let start = 0;
    return calls.map(([tokens, ...names]) => names.map((name) => ({ name, values: values.slice(start, (start += tokens)) })));
  }

  /**
   * The span of a call as `read` has it, without its fields.
   *
   * @param {number} at Position of the rollout.
   * @param {number} call Position of the call in it.
   * @returns {Omit<Span, "fields">}
   */
  span(at, call) {
    const json = this.#ask(at, (core) => (isPosition(call) ? core.span(at, call) : undefined), `rollout ${at} has no call ${shown(call)}`);
    return JSON.parse(json);
  }

  /**
   * The spans around the calls: all of the trace, also those without ids, in the order of the body; or those of the calls, if the
   * rollout is in no trace.
   *
   * @param {number} at Position of the rollout.
   * @returns {RolloutSpan[]}
   */
  spans(at) {
    return JSON.parse(this.#ask(at, (core) => core.spans(at)));
  }

  /**
   * Looks at the same body with other tokenizers, without reading it again. The list may be another one then: which calls belong
   * together depends on their texts, too. If it fails nothing has changed.
   *
   * @param {Tokenizer | Record<string, Tokenizer>} tokenizers As for `openRollouts`.
   * @param {CheckOptions} [options] Those that are left out stay as they are.
   */
  use(tokenizers, options) {
    const core = this.#alive();
    const entries = entriesOf(tokenizers);
    const merged = { ...this.#options, ...checkOptions(options, CHECKS, "use") };
    const json = optionsText(merged, "use");
    if (merged.drift && !this.#isGeneral) {
      throw new Token2TextError("engine_not_available", "`drift` needs the general engine; give it to openRollouts already");
    }
    checkDrift(merged, entries, this.#instance);
    this.#length = asked(() => {
      for (const [pattern, tokenizer] of entries) core.addTokenizer(pattern, coreIn(tokenizer, this.#instance));
      return core.use(json);
    });
    this.#options = merged;
  }

  /** Gives the memory back. */
  free() {
    this.#core?.free();
    this.#core = undefined;
  }

  [Symbol.dispose]() {
    this.free();
  }

  /** @param {Body} body @param {Entries} entries */
  async #read({ bytes, pieces, json, contentType, url, infos }, entries) {
    const core = this.#alive();
    for (const [pattern, tokenizer] of entries) core.addTokenizer(pattern, coreIn(tokenizer, this.#instance));
    core.begin(bytes, json, contentType, url, infos);
    for await (const piece of pieces) core.push(piece);
    const [length, skipped] = /** @type {[number, string]} */ (/** @type {unknown} */ (core.finish()));
    this.#length = length;
    this.#skipped = JSON.parse(skipped);
  }

  /**
   * What the core says of a rollout.
   *
   * @template T
   * @param {number} at
   * @param {(core: Core) => T | undefined} what
   * @param {string} [nothing] What is wrong if it says nothing, although there is such a rollout.
   * @returns {T}
   */
  #ask(at, what, nothing = "") {
    const core = this.#alive();
    const isThere = isPosition(at) && at < this.#length;
    const answer = isThere ? asked(() => what(core)) : undefined;
    if (answer !== undefined) return answer;
    throw new Token2TextError("invalid_options", isThere ? nothing : `there is no rollout ${shown(at)}; there are ${this.#length}`);
  }

  #alive() {
    if (this.#core) return this.#core;
    throw new Token2TextError("freed", "this RolloutReader was freed; make another with `await openRollouts(bytes, tokenizers)`");
  }
}

/** Tokenizers by pattern; there may be none. @param {unknown} tokenizers @returns {Entries} */
export function entriesOf(tokenizers) {
  const isNone = typeof tokenizers === "object" && tokenizers !== null && Object.keys(tokenizers).length === 0;
  const isTokenizer = (/** @type {unknown} */ value) => value instanceof Tokenizer;
  return isNone && !isTokenizer(tokenizers) ? [] : tokenizerEntries(tokenizers, (value) => value instanceof Tokenizer);
}

/** @param {CheckOptions} options @param {Entries} entries @param {Instance} instance */
function checkDrift({ drift }, entries, instance) {
  if (!drift || entries.every(([, tokenizer]) => instanceOf(tokenizer) === instance)) return;
  const cure = 'load it with `await Tokenizer.load(source, { engine: "general" })`, or leave `drift` out';
  throw new Token2TextError("engine_not_available", `\`drift\` needs a tokenizer that encodes; ${cure}`);
}

/** @template T @param {() => T} work @returns {T} */
function asked(work) {
  try {
    return work();
  } catch (error) {
    throw asToken2TextError(error);
  }
}

/** @param {unknown} value */
function isPosition(value) {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) < 2 ** 32;
}

/** @param {unknown} value */
function shown(value) {
  return typeof value === "number" ? String(value) : describe(value);
}
