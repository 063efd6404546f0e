/** What is looked at: kept in the address of the page, and in step in every tab. */
export type Tab = "chat" | "text" | "tokens" | "raw";

export interface Selection {
  /** Key of a row. */
  rollout?: string;
  /** Position in the calls of the rollout. */
  call?: number;
  /** Tokens of the call, `[start, end)`. */
  tokens?: [start: number, end: number];
  tab: Tab;
  /** Rollouts of the same sample side by side in place of one. */
  siblings?: boolean;
}

/** Asks the viewer to look at something else; what is absent stays, but a new rollout starts afresh. Bubbles through shadow roots. */
export class SelectEvent extends Event {
  constructor(readonly change: Partial<Selection>) {
    super("t2t-select", { bubbles: true, composed: true });
  }
}

/**
 * Asks the view of a rollout to go on by one turn (in the chat) or line (in the other tabs), or to the first or last of them. The
 * viewer sends it to `<t2t-rollout-view>`, which answers with a `SelectEvent` or scrolls.
 */
export class MoveEvent extends Event {
  constructor(readonly to: "next" | "previous" | "first" | "last") {
    super("t2t-move");
  }
}
