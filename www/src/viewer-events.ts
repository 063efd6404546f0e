import type { Row } from "./engine/contract.js";

/** Something else is looked at. */
export interface SelectDetail {
  /** What is known of the rollout; none if none is looked at. */
  rollout?: Row;
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

/** Events of `<token2text-viewer>`, all of them `CustomEvent`s that bubble out of shadow roots. */
export interface ViewerEventMap {
  select: CustomEvent<SelectDetail>;
  error: CustomEvent<ErrorDetail>;
  loaded: CustomEvent<LoadedDetail>;
}
