/**
 * A JSON Pointer with the extra steps `*` (every element), `!json` (into the JSON of a string), and at its end `!repr`,
 * `!numpy`, `!b64i32` (base64 of 32-bit integers) and `!tokenid` (strings `token_id:N`; finds only what is so spelled).
 */
export type Pointer = string;

/** Where one kind of ids stands and where its text goes. */
export interface LayoutField {
  /** What the ids are, for the report. */
  kind: "prompt" | "response";
  /** The first that is there and not null; one alone may stand without its list. */
  ids: Pointer | Pointer[];
  /** Members that the object must have which holds the last key of `ids`: `{ "role": "assistant" }`. */
  where?: Record<string, unknown>;
  /**
   * Only some of the ids: those where a mask has a value, or has another; those in ranges `[start, end]`, or outside; the
   * last of a number that stands at `tail`, or all before them. `length`: where the number of ids stands that count, before
   * padding.
   */
  select?:
    | { mask: Pointer; value: number | boolean; length?: Pointer }
    | { mask: Pointer; not: number | boolean; length?: Pointer }
    | { ranges: Pointer; inside: boolean }
    | { tail: Pointer; inside: boolean };
  /**
   * What becomes of the lists that `*` finds: all in a row, the last, `"auto"` (the last if each begins with the one
   * before, else all in a row), or one text for each leaf of the tree that the elements' `parent` makes. Default:
   * `"concat"`.
   */
  join?: "concat" | "last" | "auto" | "parents";
  /** The key by whose value the elements of `*` are grouped before they are joined: one text for each group. */
  by?: string;
  /** Where the text goes; `/response_text`, one step, means beside the output. */
  text: Pointer;
  /** Where the producer's own text may stand, which is then kept and compared. */
  existing?: Pointer | Pointer[];
  /** Lists as long as the ids or as the selection; log-probabilities also as long as the ids that the mask has. */
  mask?: Pointer;
  /** As `mask`. */
  logprobs?: Pointer;
}

/**
 * How one producer writes token ids, as data. Pointers are JSON Pointers over `{ inputs, output, attributes, events }`.
 * Layouts are tried in order, and the first that reads some ids has them; entries may share a name.
 */
export interface Layout {
  /** For the report, and for the option `layouts`. */
  name: string;
  /** What must be there and not null; of an inner list one is enough. */
  when: (Pointer | Pointer[])[];
  /** Where the objects are to which the pointers of `fields` are relative: `/output/choices/*`. */
  each?: Pointer;
  fields: LayoutField[];
}
