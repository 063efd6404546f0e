import { css } from "lit";

export const cellStyles = css`
  .reward-bar {
    display: inline-block;
    width: 36px;
    vertical-align: 2px;
    height: 4px;
    border-radius: 2px;
    background: var(--t2t-border);
    overflow: hidden;
  }
  .reward-bar::before {
    content: "";
    display: block;
    height: 100%;
    width: calc(8% + var(--share) * 92%);
    background: color-mix(in oklab, var(--t2t-high) calc(var(--share) * 100%), var(--t2t-low));
  }
  .found {
    color: var(--ink);
    font-size: var(--t2t-size-tiny);
    letter-spacing: 0.02em;
  }
  .found + .found {
    margin-inline-start: 2px;
  }
`;

export const listStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  .grid {
    flex: 1;
    min-height: 0;
    overflow: auto;
    outline-offset: -2px;
    contain: strict;
    overflow-anchor: none;
  }
  .row {
    display: grid;
    grid-template-columns: var(--columns);
    height: var(--t2t-row);
    min-width: var(--least);
    contain: strict;
    border-bottom: 1px solid color-mix(in srgb, var(--t2t-border) 60%, transparent);
  }
  .head {
    position: sticky;
    top: 0;
    z-index: 1;
    background: var(--t2t-sunken);
    border-bottom-color: var(--t2t-border);
  }
  .space {
    position: relative;
    min-width: var(--least);
  }
  .window {
    position: absolute;
    inset: 0 0 auto;
  }
  /* Blocks of one line: there are hundreds, all laid out anew as one scrolls. */
  .row > * {
    min-width: 0;
    padding: 0 7px;
    overflow: hidden;
    white-space: nowrap;
    text-overflow: ellipsis;
    line-height: calc(var(--t2t-row) - 1px);
  }
  .row > .number {
    text-align: end;
  }
  .row > .number > .reward-bar {
    margin-inline-start: 6px;
  }
  .window .row:not(.group) {
    cursor: pointer;
  }
  .window .row:hover {
    background: var(--t2t-hover);
  }
  .window .row[aria-selected="true"] {
    background: var(--t2t-selected);
    box-shadow: inset 2px 0 var(--t2t-accent);
  }
  .window .row.fresh {
    animation: fresh 1.6s ease-out;
  }
  @keyframes fresh {
    from {
      background: color-mix(in srgb, var(--t2t-accent) 28%, transparent);
    }
  }
  .unseen-rows {
    position: relative;
    z-index: 1;
    height: 0;
    display: flex;
    justify-content: center;
    align-items: end;
    gap: 8px;
  }
  .unseen-rows button {
    margin-bottom: 10px;
    min-height: 26px;
    border-color: var(--t2t-accent);
    border-radius: 13px;
    color: var(--t2t-accent-ink);
    font-size: var(--t2t-size-small);
    font-variant-numeric: tabular-nums;
    box-shadow: var(--t2t-shadow);
  }
  .grid[aria-activedescendant]:focus-visible {
    outline: none;
  }
  .grid:focus-visible .row.active {
    outline: 2px solid var(--t2t-focus);
    outline-offset: -2px;
  }
  .head button {
    width: 100%;
    height: 100%;
    min-height: 0;
    padding: 0 7px;
    border: 0;
    border-radius: 0;
    background: none;
    color: var(--t2t-ink-soft);
    font-size: var(--t2t-size-tiny);
    font-weight: 600;
    justify-content: flex-start;
    gap: 3px;
  }
  .head > * {
    padding: 0;
  }
  .head .number button {
    justify-content: flex-end;
  }
  .head button:focus-visible {
    outline-offset: -2px;
  }
  .head [aria-sort]:not([aria-sort="none"]) button {
    color: var(--t2t-accent-ink);
  }
  .text {
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
  }
  .group {
    display: flex;
    align-items: center;
    gap: 10px;
    background: var(--t2t-sunken);
    font-weight: 600;
    padding: 0 2px;
  }
  .group > * {
    display: flex;
    align-items: center;
    gap: 10px;
    padding: 0 6px;
  }
  .group .soft {
    font-weight: 400;
  }
  .group button {
    min-height: 22px;
    font-size: var(--t2t-size-tiny);
    font-weight: 500;
    padding: 0 8px;
  }
  .empty {
    position: absolute;
    inset: 0;
    display: grid;
    place-content: center;
    justify-items: center;
    gap: 10px;
    padding: 24px;
    text-align: center;
    color: var(--t2t-ink-soft);
  }
  .status {
    display: flex;
    align-items: center;
    gap: 12px;
    min-height: 26px;
    padding: 0 8px;
    border-top: 1px solid var(--t2t-border);
    background: var(--t2t-sunken);
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
    font-variant-numeric: tabular-nums;
    white-space: nowrap;
    overflow: hidden;
  }
  .status progress {
    width: 72px;
  }
  .status .end {
    margin-inline-start: auto;
    display: flex;
    align-items: center;
    gap: 8px;
  }
`;
