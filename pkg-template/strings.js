/** Short runs of ids as the strings of their tokens, put together without a call into WebAssembly. */

/** Ids from here on have no place. */
const END = 1 << 20;
/** Places are made by so many. */
const PAGE = 1 << 10;

/** A string that a token is only when no other is beside it. */
export class Alone {
  /** @param {string} string */
  constructor(string) {
    this.string = string;
  }
}

/** The strings of tokens, by id: at most 2^20, each kept when it was first needed. */
export class Strings {
  /** @type {(string | Alone | undefined)[][]} */
  #pages = [];

  /**
   * The text of the ids; undefined if a string is not here, or something is no id.
   *
   * @param {ArrayLike<unknown>} ids
   * @returns {string | undefined}
   */
  join(ids) {
    const first = this.#at(ids[0]);
    if (ids.length === 1) return typeof first === "object" ? first.string : first;
    if (typeof first !== "string") return undefined;
    let text = first;
    for (let i = 1; i < ids.length; i++) {
      const string = this.#at(ids[i]);
      if (typeof string !== "string") return undefined;
      text += string;
    }
    return text;
  }

  /** @param {unknown} id */
  #at(id) {
    return typeof id === "number" && id >>> 0 === id ? this.#pages[id >>> 10]?.[id & (PAGE - 1)] : undefined;
  }

  /**
   * Keeps the strings of ids that nobody asked about before.
   *
   * @param {ArrayLike<number | bigint>} ids
   * @param {(id: number) => string | Alone} stringOf
   */
  learn(ids, stringOf) {
    for (let i = 0; i < ids.length; i++) {
      const id = Number(ids[i]);
      if (id >= END) continue;
      const page = (this.#pages[id >>> 10] ??= new Array(PAGE).fill(undefined));
      const at = id & (PAGE - 1);
      if (page[at] === undefined) page[at] = stringOf(id);
    }
  }
}
