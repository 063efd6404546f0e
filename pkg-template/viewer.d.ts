import type { SpanInput } from "./write.js";

/** An address, or the file itself. */
export type TokenizerSource = string | URL | Blob;
export type TraceSource = string | URL | Blob;

/** What is known of a rollout without decoding it. Numbers that a trace does not have are absent. */
export interface RolloutFacts {
  /** The same rollout has the same key when the file is opened again. */
  key: string;
  /** Name of the file, or of the server. */
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
}

/** Something else is looked at. */
export interface SelectDetail {
  /** None if no rollout is looked at. */
  rollout?: RolloutFacts;
  /** Position in its calls. */
  call?: number;
  /** Tokens of the call, `[start, end)`. */
  tokens?: [start: number, end: number];
}

/** Something failed. It also stands in the viewer, beside what failed. */
export interface ErrorDetail {
  /** A stable code. */
  code: string;
  message: string;
}

/** Traces are open. */
export interface LoadedDetail {
  /** How many rollouts there are. */
  rollouts: number;
}

/** Events of `<token2text-viewer>`. They bubble, out of shadow roots too. */
export interface ViewerEventMap {
  select: CustomEvent<SelectDetail>;
  error: CustomEvent<ErrorDetail>;
  loaded: CustomEvent<LoadedDetail>;
}

/**
 * Shows rollouts that were recorded as token ids: what the model read and wrote, turn by turn and token by token. Reading, decoding
 * and searching are done in a Web Worker. Importing this module defines the element `<token2text-viewer>`; where there is no document
 * the import fails.
 *
 * As an element of a page it is given tokenizers and traces by its properties; with the attribute `page` it is the whole page, asks
 * for files, and keeps in the page's address what is looked at. Its height is what the page gives it. CSS parts: `toolbar`, `live`,
 * `search`, `loads`, `sources`, `list`, `results`, `rollout`, `siblings`.
 *
 * @example
 *   import "token2text/viewer";
 *
 *   const viewer = document.createElement("token2text-viewer");
 *   viewer.tokenizer = "/models/qwen3/tokenizer.json";
 *   viewer.trace = "/rollouts/step-12.jsonl";
 *   viewer.addEventListener("select", ({ detail }) => console.log(detail.rollout?.key, detail.call, detail.tokens));
 *   document.body.append(viewer);
 */
export class Token2TextViewer extends HTMLElement {
  /** A tokenizer.json or packed tokenizer for all models, or several by patterns of the names of models. Attribute: an address. */
  tokenizer?: TokenizerSource | Record<string, TokenizerSource>;
  /** Traces in any format of the package, plain or gzip. Attribute: an address. */
  trace?: TraceSource | TraceSource[];
  /**
   * Address of a token2text-collector with a store: the traces that it has, and those that come, as they come. If it is on another origin, it
   * must allow this page by `--allow-origin`. In place of `trace`. Attribute: the address.
   */
  collector?: string | URL;
  /** Spans that the page has already, as `read` gives them; in place of `trace`. */
  spans?: readonly SpanInput[];
  /** Whether it is the whole page. */
  page: boolean;
  /** In place of what the system prefers. */
  theme?: "light" | "dark";

  addEventListener<K extends keyof ViewerEventMap>(
    type: K,
    listener: (this: Token2TextViewer, event: ViewerEventMap[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
  removeEventListener<K extends keyof ViewerEventMap>(
    type: K,
    listener: (this: Token2TextViewer, event: ViewerEventMap[K]) => void,
    options?: boolean | EventListenerOptions,
  ): void;
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | EventListenerOptions): void;
}

export default Token2TextViewer;

declare global {
  interface HTMLElementTagNameMap {
    "token2text-viewer": Token2TextViewer;
  }
}
