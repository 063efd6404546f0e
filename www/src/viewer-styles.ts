import { css } from "lit";

export const viewerStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    height: 600px;
    min-width: 0;
    overflow: hidden;
    position: relative;
    container-type: inline-size;
  }
  .toolbar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 8px;
    min-height: 42px;
    padding: 6px 10px;
    border-bottom: 1px solid var(--t2t-border);
    background: var(--t2t-sunken);
  }
  .brand {
    display: flex;
    align-items: center;
    gap: 7px;
    font-weight: 650;
    letter-spacing: -0.01em;
  }
  .brand svg {
    width: 18px;
    height: 18px;
  }
  .brand rect {
    fill: var(--t2t-accent);
  }
  .brand path {
    fill: var(--t2t-on-accent);
  }
  .chips {
    display: flex;
    align-items: center;
    gap: 6px;
    min-width: 0;
    flex: 0 1 auto;
    overflow: hidden;
  }
  .chips .chip {
    min-width: 0;
    max-width: 240px;
  }
  .chips .chip > span:first-child {
    overflow: hidden;
    text-overflow: ellipsis;
  }
  button.live {
    min-height: 26px;
    padding: 0 8px;
    border-radius: 13px;
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
  }
  .live i {
    width: 8px;
    height: 8px;
    border-radius: 4px;
    background: var(--t2t-border-strong);
  }
  .live.on i {
    background: var(--t2t-accent);
    animation: breath 2.4s ease-in-out infinite;
  }
  .live.lost {
    border-color: color-mix(in srgb, var(--t2t-warning) 50%, transparent);
    background: var(--t2t-warning-bg);
    color: var(--t2t-warning-ink);
  }
  .live.lost i {
    background: var(--t2t-warning);
  }
  button.problems {
    border-color: color-mix(in srgb, var(--t2t-warning) 50%, transparent);
    background: var(--t2t-warning-bg);
    color: var(--t2t-warning-ink);
    font-size: var(--t2t-size-small);
  }
  .end {
    display: flex;
    align-items: center;
    gap: 2px;
    margin-inline-start: auto;
  }
  t2t-search {
    flex: 1 1 320px;
    max-width: 620px;
    margin-inline-start: auto;
  }
  t2t-search + .end {
    margin-inline-start: 0;
  }
  .loads {
    border-bottom: 1px solid var(--t2t-border);
    padding: 4px 12px;
  }
  .loads .line {
    display: flex;
    align-items: center;
    gap: 10px;
    min-width: 0;
  }
  .loads .name {
    flex: 1;
    min-width: 0;
  }
  .loads .followed .name {
    flex: 0 1 auto;
    font-weight: 600;
  }
  .loads .says {
    flex: 1 1 200px;
    min-width: 0;
    overflow-wrap: anywhere;
  }
  .loads .followed.lost {
    color: var(--t2t-warning-ink);
  }
  .loads .faint {
    font-size: var(--t2t-size-small);
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .loads button {
    flex: none;
  }
  .loads .small {
    min-height: 22px;
    font-size: var(--t2t-size-small);
  }
  .loads .why {
    color: var(--ink);
    overflow-wrap: anywhere;
  }
  .loads .code {
    font: var(--t2t-size-tiny) var(--t2t-mono);
    opacity: 0.8;
  }
  .body {
    flex: 1;
    min-height: 0;
    display: flex;
    position: relative;
  }
  .left {
    flex: none;
    width: var(--left);
    min-width: 0;
    display: flex;
    flex-direction: column;
  }
  .right {
    flex: 1;
    min-width: 0;
    display: flex;
    flex-direction: column;
  }
  .left > :is(t2t-list, t2t-results),
  .right > :last-child {
    flex: 1;
    min-height: 0;
    overflow: clip;
  }
  .narrow .left {
    width: 100%;
  }
  .tabs {
    display: flex;
    padding: 0 8px;
    border-bottom: 1px solid var(--t2t-border);
    background: var(--t2t-sunken);
  }
  .tabs button {
    border: 0;
    border-bottom: 2px solid transparent;
    border-radius: 0;
    background: none;
    color: var(--t2t-ink-soft);
  }
  .tabs button[aria-selected="true"] {
    color: var(--t2t-ink);
    font-weight: 600;
    border-bottom-color: var(--t2t-accent);
  }
  .walk {
    display: flex;
    align-items: center;
    gap: 4px;
    min-height: 34px;
    padding: 2px 8px;
    border-bottom: 1px solid var(--t2t-border);
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
  }
  .walk .end {
    gap: 6px;
  }
  .walk button {
    font-size: var(--t2t-size-small);
    min-height: 26px;
  }
  .nothing {
    flex: 1;
    display: grid;
    place-content: center;
    justify-items: center;
    gap: 6px;
    padding: 24px;
    text-align: center;
    color: var(--t2t-ink-soft);
  }
  .nothing strong {
    color: var(--t2t-ink);
    font-size: var(--t2t-size-large);
    font-weight: 600;
  }
  .nothing .failed {
    max-width: 60ch;
    text-align: start;
    overflow-wrap: anywhere;
  }
  .nothing .failed .line {
    font-weight: 600;
    color: var(--t2t-ink);
  }
  .nothing .failed .why {
    color: var(--ink);
  }
  t2t-sources {
    flex: 1;
    min-height: 0;
  }
  .over {
    position: absolute;
    inset: 0;
    z-index: 5;
    display: grid;
    place-content: center;
    border: 2px solid var(--t2t-accent);
    background: color-mix(in srgb, var(--t2t-selected) 88%, transparent);
    font-size: var(--t2t-size-large);
    font-weight: 600;
    pointer-events: none;
  }
  @container (max-width: 719px) {
    .chips {
      display: none;
    }
    .wide,
    .brand:has(~ .live) span {
      display: none;
    }
    .loads .followed {
      flex-wrap: wrap;
      gap: 0 10px;
    }
    .loads .followed .name {
      flex: 1;
    }
    .loads .followed .says {
      order: 1;
      flex-basis: 100%;
    }
    .toolbar .end {
      margin-inline-start: auto;
    }
    t2t-search {
      order: 1;
      flex-basis: 100%;
      max-width: none;
    }
  }
`;
