/** What became of one field of ids. */
export interface ReportField {
  /** Address of the ids: a JSON Pointer with extra steps (`!json`: into the JSON of a string; `*`: every element). */
  path: string;
  /** Address of the text; none if no place for it was found. */
  textPath?: string;
  kind: "prompt" | "response";
  /** Name of the layout that found them. */
  layout: string;
  /** Pattern of the tokenizer that decoded them. */
  tokenizer?: string;
  /** Number of ids. */
  ids: number;
  status: "decoded" | "kept" | "replaced" | "skipped";
  /** Why the field was skipped, or `not_dropped` if its ids stay though they were to go: a stable code. */
  reason?: string;
  /** What was wrong and where, for a person. */
  detail?: string;
  /** Whether text that was there says what the ids say. */
  existing?: "same" | "different";
  /** Addresses of the ids that were taken out, with their copies. */
  idsDropped?: string[];
  /** Number of characters of the whole text, where it was shortened. */
  shortened?: number;
  /** The selection, where only some ids of a list are the field. */
  select?: object;
  /** Number of the choice, turn or sample, where a layout has several. */
  index?: number;
  /** How the ids were spelled, if not as a list of integers. */
  converted?: string;
  /** Ids that the tokenizer does not know, which have no text; the first 100 positions. */
  unknown?: { count: number; positions: number[] };
}

/** Exact counts over all fields of a body. */
export interface ReportTotals {
  decoded: number;
  kept: number;
  replaced: number;
  skipped: number;
  /** Fields by reason. */
  reasons: Record<string, number>;
  ids: number;
  /** Those that were taken out. */
  idsDropped: number;
  /** Fields whose text was shortened. */
  shortened: number;
  unknownIds: number;
  /** Kept fields whose text differs from what the ids say. */
  different: number;
  /** Spans in which no layout found ids. */
  spansWithoutIds: number;
  warnings: number;
  /** Places that a conversation was written to, if there are any. */
  messages?: number;
  /** Conversations that were not written, by reason, if there are any. */
  noMessages?: Record<string, number>;
}

/** What became of the conversation of a span, at one place where its backend shows it. */
export interface ReportMessages {
  /** Address of the place; of the span if the conversation has none. */
  path: string;
  /** `decoded`: written. `kept`: a value was there and stays. `replaced`: written over contents that verl made. */
  status: "decoded" | "kept" | "replaced" | "skipped";
  /** Number of messages that were written. */
  count: number;
  /** Why none were: a stable code. */
  reason?: string;
  /** What was wrong, for a person. */
  detail?: string;
}

/** What one enrichment did. */
export interface Report {
  format: string;
  /** What told the format. */
  rule: string;
  spans: number;
  /** The first 10,000. */
  fields: ReportField[];
  /** The first 10,000. */
  warnings: { code: string; message: string; path: string }[];
  /** Conversations, with the option `messages`; the first 10,000. */
  messages?: ReportMessages[];
  totals: ReportTotals;
}

/** A record with texts written into it: what it was, and in every object whatever a layout adds. */
export type Enriched<T> = T extends readonly (infer Item)[]
  ? Enriched<Item>[]
  : T extends ArrayBufferView
    ? T
    : T extends object
      ? { [Key in keyof T]: Enriched<T[Key]> } & { [added: string]: any }
      : T;
