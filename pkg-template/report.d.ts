/** What happened to one field of ids. */
export interface ReportField {
  path: string;
  textPath?: string;
  kind: "prompt" | "response";
  layout: string;
  tokenizer?: string;
  ids: number;
  status: "decoded" | "kept" | "replaced" | "skipped";
  reason?: string;
  existing?: "same" | "different";
  idsDropped?: boolean;
  select?: unknown;
  index?: number;
  converted?: string;
  unknown?: { count: number; positions: number[] };
}

/** What was decoded, kept and skipped in one body, and why. `fields` is capped, `totals` are exact. */
export interface Report {
  format: string;
  rule?: string;
  spans: number;
  fields: ReportField[];
  warnings: { code: string; message: string; path?: string }[];
  totals: Record<string, number>;
}
