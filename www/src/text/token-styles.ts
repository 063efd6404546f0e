import { css } from "lit";

/** Of the tab Tokens: each token, and the card of one. */
export const tokenStyles = css`
  .scroller {
    user-select: none;
  }
  .jump {
    width: 84px;
    min-height: 24px !important;
    padding-block: 1px !important;
  }
  t2t-token-card {
    position: absolute;
    z-index: 3;
  }
  t2t-token-card[pinned] {
    right: 14px;
    bottom: 14px;
    z-index: 2;
  }
  t2t-token-card[floating] {
    pointer-events: none;
  }
  .t {
    unicode-bidi: isolate;
    padding: 1px 0;
    border-radius: 2px;
    background: var(--bg);
    cursor: default;
  }
  .boundaries .t {
    border-inline-end: 1px solid var(--t2t-bg);
  }
  .boundaries .odd {
    background: color-mix(in srgb, var(--line, var(--t2t-border-strong)) 15%, var(--bg, var(--t2t-bg)));
  }
  .t.scaled {
    background: var(--step, var(--bg));
    color: var(--step-ink, inherit);
  }
  .t.none {
    background: none;
    color: var(--t2t-ink-faint);
  }
  .special {
    margin: 0 1px;
    padding: 0 4px;
    border: 1px solid color-mix(in srgb, var(--line, var(--t2t-border-strong)) 60%, transparent);
    border-radius: 4px;
    color: var(--step-ink, var(--ink));
    font-size: 11px;
  }
  .t.beyond {
    box-shadow: inset 0 -2px 0 var(--t2t-ink);
    font-weight: 700;
  }
  .t.hit {
    background: var(--t2t-hit);
    color: var(--t2t-ink);
  }
  .t.hit-now {
    background: var(--t2t-hit-current);
    color: var(--t2t-hit-current-ink);
  }
  .finding {
    text-decoration: underline wavy 1px var(--mark);
    text-underline-offset: 3px;
  }
  .f-error {
    --mark: var(--t2t-error);
  }
  .f-warning {
    --mark: var(--t2t-warning);
  }
  .f-info {
    --mark: var(--t2t-info);
  }
  .t.selected {
    box-shadow: inset 0 0 0 2em color-mix(in srgb, var(--t2t-accent) 28%, transparent);
  }
  .t.hit-now.selected {
    box-shadow: none;
  }
  .t.cursor {
    outline: 2px solid var(--t2t-accent);
    outline-offset: 0;
  }
  .bytes {
    display: inline-block;
    margin: 0 1px;
    padding: 0 3px;
    border: 1px dashed color-mix(in srgb, currentColor 45%, transparent);
    border-radius: 3px;
    font-size: 10px;
    line-height: 14px;
    vertical-align: 1px;
  }
  .ids .t {
    display: inline-flex;
    flex-direction: column;
    vertical-align: top;
    margin-block-end: 3px;
    min-height: 34px;
  }
  .ids .id {
    color: inherit;
    font: 10px / 12px var(--t2t-mono);
  }
  .other {
    display: inline-block;
    margin: 0 3px;
    padding: 0 5px;
    border: 1px dashed var(--t2t-info);
    border-radius: 4px;
    background: var(--t2t-info-bg);
    color: var(--t2t-info-ink);
    font: 10px / 15px var(--t2t-mono);
    vertical-align: 1px;
  }
`;
