import { css } from "lit";

/** Of the rows that `CallLines` draws, and what stands above them. */
export const lineStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    position: relative;
    min-height: 0;
  }
  .tools {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 14px;
    padding: 6px 12px;
    border-bottom: 1px solid var(--t2t-border);
    font-size: var(--t2t-size-small);
  }
  .copy {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    margin-inline-start: auto;
  }
  .small {
    min-height: 24px;
    padding: 1px 8px;
  }
  .scroller {
    flex: 1;
    min-height: 120px;
    font: var(--t2t-size-small) / 19px var(--t2t-mono);
  }
  .empty {
    padding: 12px 14px;
    font-family: var(--t2t-font);
  }
  .row {
    display: grid;
    grid-template-columns: minmax(52px, auto) 3px minmax(0, 1fr);
    column-gap: 8px;
    padding-inline-end: 12px;
    min-height: 21px;
    contain: content;
  }
  .at {
    text-align: end;
    color: var(--t2t-ink-faint);
    font-size: 11px;
    user-select: none;
    padding-inline-start: 6px;
  }
  .bar {
    background: var(--line, transparent);
  }
  .line {
    padding: 1px 0;
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    tab-size: 4;
  }
  .fold {
    min-height: 0;
    margin-inline-end: 6px;
    padding: 0 7px;
    border-style: dashed;
    border-color: var(--t2t-border-strong);
    background: var(--t2t-sunken);
    color: var(--t2t-ink-soft);
    font: var(--t2t-size-tiny) / 16px var(--t2t-font);
    user-select: none;
  }
  .fold::before {
    content: "▸";
  }
  .fold[aria-expanded="true"]::before {
    content: "▾";
  }
  .fold.selected {
    border: 1px solid var(--t2t-accent);
    background: var(--t2t-selected);
  }
  @container view (max-width: 520px) {
    .row {
      grid-template-columns: minmax(34px, auto) 3px minmax(0, 1fr);
      column-gap: 5px;
      padding-inline-end: 6px;
    }
    .tools {
      padding: 5px 8px;
      gap: 4px 10px;
    }
  }
`;
