/** The rollouts of a body, and what of it could not be read. */
export interface Rollouts {
  rollouts: Rollout[];
  skipped: SkippedPart[];
}

/** Something that could not be read: a field of ids, or a line of JSON lines. */
export interface SkippedPart {
  /** Its address in the body. */
  path: string;
  /** Why: a stable code, as in the report of an enrichment; `invalid_body` for a line. */
  reason: string;
  /** What was wrong, for a person. */
  detail: string;
}

/** What is known of a rollout without decoding anything: a line of a list. */
export interface RolloutOverview
  extends Pick<Rollout, "traceId" | "requestId" | "model" | "step" | "sampleIndex" | "rolloutN" | "validate" | "experimentName" | "reward"> {
  /**
   * Number of turns, as `statistics` has it. Of a trajectory whose turns are not in the trace those stretches are counted that its
   * mask says the model wrote.
   */
  turns: number;
  /** Number of calls. */
  calls: number;
  /** Number of tokens of all kinds. What turns share is counted once. */
  tokens: number;
  /** When the first of its spans began, and the last ended: nanoseconds since 1970, in decimal digits. */
  startUnixNano?: string;
  endUnixNano?: string;
  /** Address of the span of the first call in the body. */
  path: string;
}

/** Numbers that stand beside the tokens of a call. */
export interface TokenNumbers {
  /**
   * `logprobs` for the log-probabilities that the layout finds. Else the key of the list, with the key of the object around it if
   * there are two alike. Each name of a call is another.
   */
  name: string;
  /** As many as the call has ids; NaN where a token has none. */
  values: Float64Array<ArrayBuffer>;
}

/** A span around the calls of a rollout. */
export interface RolloutSpan {
  /** Empty if it has none. */
  spanId: string;
  /** Id of the span around this one. */
  parentId?: string;
  name: string;
  /** Nanoseconds since 1970, in decimal digits. */
  startUnixNano?: string;
  endUnixNano?: string;
  status: "unset" | "ok" | "error";
  /** Positions of the calls in it: several are choices or rows; none for a tool, or what is around the calls. */
  calls: number[];
}

/** What a rollout is, and what was found in it. Positions of tokens count from the first id of their call; ranges are `[start, end)`. */
export interface Rollout {
  /** Id of the trace, where the backend has one. */
  traceId?: string;
  /** Id that the calls of one conversation share (`request_id`). */
  requestId?: string;
  /** Name of the model. */
  model?: string;
  /** Step of the training. */
  step?: number;
  /** Number of the sample in the data. */
  sampleIndex?: number;
  /** Number of the rollout among those of the sample. */
  rolloutN?: number;
  /** Whether it is a validation. */
  validate?: boolean;
  experimentName?: string;
  /**
   * What the training gave for it, if the trace says so. Of several the one of the outermost span, or else of the last; none if
   * several rows or choices of one span have different ones.
   */
  reward?: number;
  /** Pattern of the tokenizer; none if none is for the model. */
  tokenizer?: string;
  /** Name of the chat template that fits the tokenizer. */
  template?: string;
  /** The calls in order: one that goes on from another stands behind it. */
  calls: RolloutCall[];
  /** What is to be looked at. */
  findings: Finding[];
  /** Sums over the turns; what turns share is counted once. */
  statistics: RolloutStatistics;
}

/** One call of a model, or the trajectory that holds all of them. */
export interface RolloutCall {
  /** Address of the span in its body. */
  path: string;
  /** Id of the span. */
  spanId?: string;
  /** Name of the span. */
  name: string;
  /** Number of the choice, sample or row, where a span has several. */
  index?: number;
  /**
   * `turn`: one answer of the model; `attempt`: a part of one that was broken off and went on; `trajectory`: several turns with
   * what came between them; `copy`: the ids of another call once more.
   */
  role: "turn" | "attempt" | "trajectory" | "copy";
  /** Position in `calls` of the call that this one goes on from. */
  parent?: number;
  /** Position in `calls` of the call that this one is a part of. */
  partOf?: number;
  /** How this one goes on from its parent. */
  join?: Join;
  /** Where it begins to differ from its parent, unless it extends it: up to sixteen ids of each, and their text. */
  divergence?: { at: number; before: { ids: number[]; text: string }; after: { ids: number[]; text: string } };
  /** What the template put between the parent and the next message: an end that was missing, a line feed. */
  inserted?: [start: number, end: number];
  /** How many tokens it has in common with its parent, from the first one on. */
  common: number;
  /** Where in the prompt that ends which its parent has; what follows is new. */
  continued: number;
  /** All ids: those of the prompt, then those of the response. */
  ids: Uint32Array<ArrayBuffer>;
  /** How many of them come before the response. */
  prompt: number;
  /** Whose which token is: every token is in one. */
  segments: Segment[];
  /** The messages in which the tokens behind `continued` stand. Their ranges follow one another. */
  messages: Message[];
  /** Sums over the tokens behind `continued`. */
  statistics: CallStatistics;
}

/** How a prompt goes on from what came before. */
export type Join =
  | "extends"
  | "trimmed"
  | "thinking_stripped"
  | "truncated_left"
  | "retokenized"
  | "edited"
  | "branch";

/** A run of tokens of one kind. */
export interface Segment {
  kind: SegmentKind;
  tokens: [start: number, end: number];
}

/**
 * `prompt`: what the model was given; `model`: what it wrote; `observation`: what tools and users gave back; `inserted`: what a
 * template or an engine put between; `padding`; `placeholder`: a run of one token that stands for parts of images, videos or sounds,
 * of which several may have grown together.
 */
export type SegmentKind = "prompt" | "model" | "observation" | "inserted" | "padding" | "placeholder";

/** A message, as a chat template has it. */
export interface Message {
  /** `system`, `user`, `assistant`, `tool`, or as the header says; none for text without a header. */
  role?: string;
  /** The text, without reasoning and well-formed calls of tools. */
  content: string;
  /** What the model thought before it spoke. */
  reasoning?: string;
  toolCalls?: ToolCall[];
  /** All of it: header, text, end. */
  tokens: [start: number, end: number];
  /** Its text alone. */
  body: [start: number, end: number];
  /** Whether the token that ends messages stands at its end. */
  closed: boolean;
}

export interface ToolCall {
  name: string;
  /** As JSON text. */
  arguments: string;
}

export interface CallStatistics {
  /** Number of tokens of each kind. */
  tokens: Record<SegmentKind, number>;
  /** Calls of tools that the model made. */
  toolCalls: number;
  /** Of the model's tokens, if the trace has them. */
  logprobs?: { count: number; mean: number; least: number; leastAt: number };
  /** Whether the model's text has no end; unknown without a chat template. */
  truncated?: boolean;
  /** Where marks of the template stand inside what the model wrote. */
  marksInside: number[];
  /** Stretches of the model's text that repeat themselves, with the tokens of a round. */
  loops: { tokens: [start: number, end: number]; period: number }[];
}

export interface RolloutStatistics {
  turns: number;
  /** Number of tokens of each kind. */
  tokens: Record<SegmentKind, number>;
  toolCalls: number;
  logprobs?: { count: number; mean: number; least: number };
}

/** Something to look at. The README of the package lists the codes. */
export interface Finding {
  code: string;
  level: "info" | "warning" | "error";
  /** What is wrong, in a sentence. */
  message: string;
  /** Position in `calls`. */
  call: number;
  /** The tokens that it is about. */
  tokens?: [start: number, end: number];
  /** Where two lists part: what stands in the call before, or of drift in the trace. */
  before?: { ids: number[]; text: string };
  /** What stands in this call, or in what its text is encoded to. */
  after?: { ids: number[]; text: string };
}
