import { css } from "lit";

export const siblingsStyles = css`
  :host {
    display: flex;
    flex-direction: column;
    min-width: 0;
    min-height: 0;
  }
  .bar {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 14px;
    padding: 6px 12px;
    border-bottom: 1px solid var(--t2t-border);
  }
  .bar label {
    margin-inline-start: auto;
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
  }
  .columns {
    flex: 1;
    min-height: 0;
    overflow: auto hidden;
    outline-offset: -2px;
  }
  .space {
    position: relative;
    height: 100%;
  }
  .column {
    position: absolute;
    inset-block: 0;
    display: flex;
    flex-direction: column;
    overflow: clip;
    border-inline-end: 1px solid var(--t2t-border);
  }
  .column.selected > header {
    box-shadow: inset 0 2px var(--t2t-accent);
    background: var(--t2t-selected);
  }
  .column > header {
    display: grid;
    gap: 3px;
    padding: 8px 10px;
    border-bottom: 1px solid var(--t2t-border);
    background: var(--t2t-sunken);
  }
  .line {
    display: flex;
    align-items: center;
    gap: 8px;
    min-width: 0;
    white-space: nowrap;
  }
  .line h3 {
    flex: 1;
  }
  .line .reward {
    display: flex;
    align-items: center;
    gap: 6px;
    font-weight: 600;
  }
  .facts {
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
  }
  .parting {
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
    min-height: 18px;
    display: flex;
    min-width: 0;
    white-space: pre;
  }
  .parting .mono {
    flex: 1;
    min-width: 0;
  }
  .parting b {
    font-weight: 600;
    color: var(--t2t-observation-ink);
    background: var(--t2t-observation-bg);
  }
  .body {
    flex: 1;
    min-height: 0;
    display: flex;
    flex-direction: column;
    overflow: clip;
  }
  t2t-chat {
    flex: 1;
    min-height: 0;
  }
  .waiting {
    padding: 16px;
    color: var(--t2t-ink-soft);
  }
`;
