/// <reference lib="esnext.disposable" preserve="true" />
import { Token2TextError, asToken2TextError } from "./errors.js";
import { idWords } from "./ids.js";

/** @typedef {import("./ids.js").TokenIds} TokenIds */

/**
 * Text as its tokens arrive. What it has given never changes: put together, it is the text that `decode` gives for all the
 * ids. It holds back only what later ids can still change: a character that is not complete, byte tokens (`<0x0A>`) until
 * another one comes, and with a few decoders that see the whole text, everything. Made by `tokenizer.stream()`; it goes on
 * working when the tokenizer is freed.
 */
export class TextStream {
  /** @type {import("./general.js").StreamCore | undefined} */
  #core;

  /** @param {import("./general.js").StreamCore} core */
  constructor(core) {
    if (typeof core?.finish !== "function") {
      throw new Token2TextError("invalid_options", "a TextStream is not made with `new`; use `tokenizer.stream(options)`");
    }
    this.#core = core;
  }

  /**
   * Takes the next ids, or the next one, and gives the text that is settled with them.
   *
   * @param {number | TokenIds} ids
   * @returns {string}
   */
  push(ids) {
    const core = this.#alive();
    const words = idWords(typeof ids === "number" ? [ids] : ids);
    try {
      return core.push(words);
    } catch (error) {
      throw asToken2TextError(error);
    }
  }

  /** Gives the rest of the text and the memory back. Nothing can be pushed then. @returns {string} */
  finish() {
    const core = this.#alive();
    this.#core = undefined;
    try {
      return core.finish();
    } catch (error) {
      throw asToken2TextError(error);
    }
  }

  /** Gives the memory back without the rest of the text. */
  free() {
    this.#core?.free();
    this.#core = undefined;
  }

  [Symbol.dispose]() {
    this.free();
  }

  #alive() {
    if (this.#core) return this.#core;
    throw new Token2TextError("freed", "this TextStream was finished or freed; make another with `tokenizer.stream(options)`");
  }
}
