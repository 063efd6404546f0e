/** A pointer or, where lists of ids are joined, several. */
export type Pointer = string;

/** Where one kind of ids stands and where its text goes. */
export interface LayoutField {
  kind: "prompt" | "response";
  ids: Pointer[];
  where?: Record<string, unknown>;
  select?:
    | { mask: Pointer; value: number | boolean }
    | { mask: Pointer; not: number | boolean }
    | { ranges: Pointer; inside: boolean }
    | { tail: Pointer; inside: boolean };
  join?: "concat" | "last" | "auto" | "parents";
  by?: string;
  text: Pointer;
  existing?: Pointer[];
  mask?: Pointer;
  logprobs?: Pointer;
}

/** How one producer writes token ids, as data. Pointers are JSON Pointers over `{ inputs, output, attributes, events }`. */
export interface Layout {
  name: string;
  when: (Pointer | Pointer[])[];
  each?: Pointer;
  fields: LayoutField[];
}
