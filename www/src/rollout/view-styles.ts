import { css } from "lit";

export const viewStyles = css`
  :host {
    display: block;
    height: 100%;
    min-height: 0;
    container: view / inline-size;
    background: var(--t2t-bg);
  }
  /* Narrow: one below the other, and the whole scrolls. */
  .view {
    display: flex;
    flex-direction: column;
    height: 100%;
    overflow: auto;
  }
  .side {
    display: flex;
    flex-direction: column;
    flex: none;
    border-bottom: 1px solid var(--t2t-border);
  }
  t2t-turn-tree {
    max-height: 220px;
    border-bottom: 1px solid var(--t2t-border);
  }
  t2t-findings {
    max-height: 240px;
    overflow: auto;
  }
  .main {
    display: flex;
    flex-direction: column;
    flex: 1 0 max(340px, 72%);
    min-height: 0;
  }
  .tabs {
    display: flex;
    align-items: center;
    gap: 2px;
    padding: 0 8px;
    border-bottom: 1px solid var(--t2t-border);
    background: var(--t2t-bg);
  }
  .tabs button {
    min-height: 34px;
    padding: 0 10px;
    border: 0;
    border-bottom: 2px solid transparent;
    border-radius: 0;
    background: none;
    color: var(--t2t-ink-soft);
    margin-bottom: -1px;
  }
  .tabs button:hover:not(:disabled) {
    background: none;
    border-color: transparent;
    color: var(--t2t-ink);
  }
  .tabs button[aria-selected="true"]:not(:disabled) {
    color: var(--t2t-accent-ink);
    border-bottom-color: var(--t2t-accent);
    font-weight: 600;
  }
  .which {
    margin-inline-start: auto;
    padding-inline: 6px;
    font-size: var(--t2t-size-small);
  }
  .pane {
    display: flex;
    flex-direction: column;
    flex: 1;
    min-height: 0;
  }
  .pane > * {
    flex: 1;
    min-height: 0;
  }
  .state {
    display: grid;
    gap: 8px;
    place-content: center;
    justify-items: center;
    height: 100%;
    min-height: 120px;
    padding: 24px;
    color: var(--t2t-ink-soft);
    text-align: center;
    overflow-wrap: anywhere;
  }
  .state progress {
    width: 160px;
  }
  /* What is there at once need not be waited for. */
  .late {
    animation: late 0s 0.25s both;
  }
  @keyframes late {
    from {
      visibility: hidden;
    }
  }
  /* Wide: calls and findings beside what they say. */
  @container view (min-width: 860px) {
    .view {
      display: grid;
      grid-template: auto minmax(0, 1fr) / clamp(290px, 32%, 420px) minmax(0, 1fr);
      overflow: hidden;
    }
    t2t-rollout-header {
      grid-column: 1 / -1;
    }
    .side {
      min-height: 0;
      border-bottom: 0;
      border-inline-end: 1px solid var(--t2t-border);
    }
    t2t-turn-tree {
      max-height: 55%;
      flex: 0 1 auto;
    }
    t2t-findings {
      flex: 1;
      min-height: 96px;
      max-height: none;
    }
  }
`;
