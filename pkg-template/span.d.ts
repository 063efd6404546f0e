/** A field of token ids in a span. */
export interface SpanField {
  /** What the ids are. */
  kind: "prompt" | "response";
  /** Name of the layout that found them. */
  layout: string;
  /** Address of the ids in the body: a JSON Pointer with extra steps (`!json`: into the JSON of a string; `*`: every element). */
  path: string;
  /** Address of the text, where it is or would go. */
  textPath?: string;
  /** Number of the choice, turn or sample, where a layout has several. */
  index?: number;
  /** The ids of the field, in order: those that the layout selects, of a list of lists all rows joined. */
  ids: Uint32Array<ArrayBuffer>;
  /** Of a list of lists: for each row where it ends in `ids`. */
  rows?: number[];
  /** Of a selection: the ranges `[start, end)` of the list in the body that `ids` are, in order. */
  segments?: [start: number, end: number][];
  /** The mask that stands with the ids, whole, also where it selects some of them. */
  mask?: Int32Array<ArrayBuffer>;
  /** The log-probabilities that stand with the ids; NaN where there is none. */
  logprobs?: Float64Array<ArrayBuffer>;
  /** The text that is there already; of a list of lists one for each row. */
  existing?: string | string[];
}

/**
 * A span, whatever wire format it came from. What a format does not have is absent.
 *
 * `inputs`, `output`, `attributes` and `events` are JSON text as it stands in the body, with the names that Python has for
 * what is no finite number (`NaN`), and numbers of any size: `JSON.parse` may refuse the one and round the other.
 */
export interface Span {
  /** Address of the span in its body, a JSON Pointer. */
  path: string;
  /** 32 hexadecimal digits from OTLP and MLflow, the backend's own spelling from others, empty if there is none. */
  traceId: string;
  /** 16 hexadecimal digits from OTLP and MLflow, the backend's own spelling from others, empty if there is none. */
  spanId: string;
  /** Id of the span around this one. */
  parentId?: string;
  /** The name; the operation where the backend calls it so. */
  name: string;
  /** Nanoseconds since 1970, in decimal digits: more than a number can hold. */
  startUnixNano?: string;
  endUnixNano?: string;
  status: "unset" | "ok" | "error";
  /** What went wrong, in the backend's words. */
  error?: string;
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
  inputs?: string;
  output?: string;
  /** Of an object, without the attributes that hold the inputs and the output. */
  attributes?: string;
  /** Of a list. */
  events?: string;
  /** The fields of token ids that the layouts find. */
  fields: SpanField[];
}
