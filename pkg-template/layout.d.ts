/**
 * A JSON Pointer with the extra steps `*` (every element), `!json` (into the JSON of a string), and at its end `!repr`,
 * `!numpy`, `!b64i32` (base64 of 32-bit integers) and `!tokenid` (strings `token_id:N`; finds only what is so spelled).
 */
export type Pointer = string;

/** Where one kind of ids stands and where its text goes. */
export interface LayoutField {
  kind: "prompt" | "response";
  /** The first that is there and not null; one alone may stand without its list. */
  ids: Pointer | Pointer[];
  where?: Record<string, unknown>;
  /** `length`: where the number of ids stands that count, before padding. */
  select?:
    | { mask: Pointer; value: number | boolean; length?: Pointer }
    | { mask: Pointer; not: number | boolean; length?: Pointer }
    | { ranges: Pointer; inside: boolean }
    | { tail: Pointer; inside: boolean };
  join?: "concat" | "last" | "auto" | "parents";
  by?: string;
  text: Pointer;
  existing?: Pointer | Pointer[];
  /** Lists as long as the ids or as the selection; log-probabilities also as long as the ids that the mask has. */
  mask?: Pointer;
  logprobs?: Pointer;
}

/**
 * How one producer writes token ids, as data. Pointers are JSON Pointers over `{ inputs, output, attributes, events }`.
 * Layouts are tried in order, and the first that reads some ids has them; entries may share a name.
 */
export interface Layout {
  name: string;
  when: (Pointer | Pointer[])[];
  each?: Pointer;
  fields: LayoutField[];
}
