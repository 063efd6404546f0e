/**
 * What the page and the worker say to each other. The worker (the engine) reads, decodes and searches; the page draws. All of
 * it is plain data; functions that the page hands over are Comlink proxies.
 */
import type { Finding, Join, Message, Rollout, Segment, SkippedPart } from "token2text";

/** Bytes done of bytes in all, where that is known. */
export interface Progress {
  /** What is done now, in words: "Reading", "Decoding". */
  what: string;
  done: number;
  total?: number;
}
export type OnProgress = (progress: Progress) => void;

/** Where a tokenizer or a trace comes from. */
export type Source =
  | { kind: "file"; name: string; blob: Blob }
  | { kind: "url"; name: string; url: string }
  /** MLflow's server: the traces of an experiment (id or name) that a filter of `search_traces` lets through, at most `limit`. */
  | { kind: "mlflow"; url: string; experiment: string; filter?: string; limit?: number }
  /** Trackio's server: the traces of a project, of a run if one is named. */
  | { kind: "trackio"; url: string; project: string; run?: string }
  /** A collector with a store: the traces that it has, and those that come. `token`: if it asks for one. */
  | { kind: "collector"; url: string; token?: string }
  /** A tokenizer that was kept packed in this browser. */
  | { kind: "kept"; name: string; key: string };

export interface TokenizerFacts {
  name: string;
  /** The models whose spans it decodes: a pattern with `*`. */
  pattern: string;
  vocabSize: number;
  decoder: string;
  /** Whether re-tokenization can be looked at. */
  canEncode: boolean;
  specialTokens: { id: number; content: string }[];
}

/** A tokenizer that was kept in this browser. */
export interface KeptTokenizer {
  key: string;
  name: string;
  bytes: number;
  /** Milliseconds since 1970. */
  used: number;
}

/** A line of the list: what is known of a rollout without decoding it. Numbers that a trace does not have are absent. */
export interface Row {
  /** Position in the engine's list, and the address of the rollout in every call. */
  at: number;
  /** The same rollout has the same key when the file is opened again: for links. */
  key: string;
  /** Name of the source. */
  source: string;
  step?: number;
  sampleIndex?: number;
  rolloutN?: number;
  validate?: boolean;
  experimentName?: string;
  model?: string;
  traceId?: string;
  requestId?: string;
  reward?: number;
  turns: number;
  tokens: number;
  /** Nanoseconds since 1970 as a double, good enough to sort by. */
  start?: number;
  /** Seconds. */
  duration?: number;
  /** Of what was found, how many of each level; absent until it was looked at. */
  findings?: { info: number; warning: number; error: number };
  toolCalls?: number;
  /** How often it was read anew because more of it had come. */
  revision?: number;
}

/** What is known of a row once its rollout was looked at. */
export type Checked = Required<Pick<Row, "at" | "findings" | "toolCalls">>;

/** What the engine says while it opens traces. Rows come in batches; a first batch comes before the whole is read. */
export interface OpenListener {
  onProgress: OnProgress;
  /** From the position `from` on the list is now this; what stood behind it is gone. */
  onRows: (from: number, rows: Row[], isComplete: boolean) => void;
  /** Rows of a source that is followed: new ones at the end of the list, or others in place of those at their positions. */
  onChanges: (rows: Row[]) => void;
  /** Whether a source that is followed can be asked. */
  onFollowing: (following: Following) => void;
  /** Something could not be read: a file, a line, a field. */
  onProblem: (problem: Problem) => void;
}

/** How it goes with a source that is followed. */
export interface Following {
  /** Name of the source. */
  source: string;
  url: string;
  state: "live" | "lost";
  /** Why it was lost, in words. */
  message?: string;
  /** Milliseconds until it is asked again. */
  retryMillis?: number;
}

/** A failure in words beside what failed. */
export interface Problem {
  /** Name of the source. */
  source: string;
  /** A stable code, as in errors and reports. */
  code: string;
  message: string;
  /** How often it happened alike. */
  count: number;
  /** Where it happened first. */
  path?: string;
}

/**
 * One rollout, to be drawn. `rollout.calls[n].ids` are empty here: see `tokens`. The `segments` of a call with a parent are those that
 * end behind `common`; before them it has its parent's (`segmentsOf`).
 */
export interface RolloutDetail {
  at: number;
  rollout: Rollout;
  reward?: number;
  /** For each call its time, where the trace has it: seconds from the start of the first one. */
  times: ({ start: number; end: number } | undefined)[];
  /** The spans around the calls, those of tools too, in the order of the trace. `calls`: the positions of the calls in it. */
  spans: { spanId: string; parentId?: string; name: string; status: "unset" | "ok" | "error"; time?: { start: number; end: number }; calls: number[] }[];
  /** Names of the per-token numbers that its calls have: "logprobs", "entropys", "advantages". */
  numbers: string[];
}

/** The tokens of one call, for the tabs Text and Tokens: everything at once, so that scrolling waits for nobody. */
export interface CallTokens {
  call: number;
  ids: Uint32Array;
  text: string;
  /** For each token the position in `text` (UTF-16) where its part ends. */
  ends: Uint32Array;
  /** For each token bits of `PieceFlag` of the package. */
  flags: Uint8Array;
  /** Token at which each drawn line begins: a line ends behind a token whose text ends in a line feed, or when it is long. */
  lines: Uint32Array;
  /** Numbers that stand beside the tokens; NaN where a token has none. */
  numbers: TokenNumbers[];
}
export interface TokenNumbers {
  name: string;
  /** As many as there are tokens. */
  values: Float32Array;
}

export interface Query {
  text: string;
  kind: "text" | "regex" | "ids";
  matchCase: boolean;
}
/** Where something was found. Tokens are positions in the ids of the call; only what a call adds to its parent is searched. */
export interface Hit {
  rollout: number;
  call: number;
  tokens: [start: number, end: number];
  /** The text of these tokens, and a little of what stands before and behind them; each part cut to some eighty characters. */
  snippet?: { before: string; found: string; after: string };
}

/** Everything that is done in the worker. Each promise is rejected with `{ code, message }` in words for a person. */
export interface Engine {
  /** Loads a tokenizer for models whose name fits `pattern` (default `*`); one with the same pattern is replaced. */
  loadTokenizer(source: Source, options: { pattern?: string; keep?: boolean }, onProgress: OnProgress): Promise<TokenizerFacts>;
  keptTokenizers(): Promise<KeptTokenizer[]>;
  forgetTokenizers(): Promise<void>;

  /** Opens traces in place of those that are open; `add` opens them beside them. */
  openTraces(sources: Source[], options: { add?: boolean }, listener: OpenListener): Promise<{ rollouts: number; skipped: SkippedPart[] }>;
  /** As `openTraces`, for spans that the embedding page has. */
  openSpans(spans: unknown[], listener: OpenListener): Promise<{ rollouts: number; skipped: SkippedPart[] }>;
  /** Whether sources that are followed are asked for what is new: not while nobody looks. They are asked at once when it is called. */
  follow(isActive: boolean): Promise<void>;
  /** Stops what is being loaded, opened, checked or searched; its promise is rejected with the code `aborted`. */
  cancel(what: "tokenizer" | "traces" | "check" | "search"): Promise<void>;

  /** Looks at all rollouts for findings, a few at a time. */
  checkAll(onChecked: (checked: Checked[], done: number, total: number) => void): Promise<void>;
  rollout(at: number): Promise<RolloutDetail>;
  tokens(at: number, call: number): Promise<CallTokens>;
  /** The bytes that each id stands for by itself: none where its tokenizer has none. */
  bytes(at: number, ids: Uint32Array): Promise<Uint8Array[]>;
  /** The span of a call as indented JSON, its numbers as they stand in the trace. */
  raw(at: number, call: number): Promise<string>;
  /** Findings of re-tokenization; loads the general engine. */
  drift(at: number, onProgress: OnProgress): Promise<Finding[]>;
  /** All hits in the order of the list (or in these rollouts), in batches, at most `limit`. */
  search(query: Query, options: { rollouts?: number[]; limit: number }, onHits: (hits: Hit[], done: number, total: number) => void): Promise<{ hits: number; isWhole: boolean }>;
  /** The traces with their texts, to be saved. */
  enriched(onProgress: OnProgress): Promise<{ name: string; blob: Blob }[]>;
}

export type { Finding, Join, Message, Rollout, Segment, SkippedPart };
