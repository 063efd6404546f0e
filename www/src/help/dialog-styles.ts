import { css } from "lit";

export const dialogStyles = css`
  dialog {
    width: min(720px, calc(100vw - 24px));
    max-height: min(80vh, 640px);
    padding: 0;
    border: 1px solid var(--t2t-border);
    border-radius: 10px;
    background: var(--t2t-raised);
    color: var(--t2t-ink);
    font: var(--t2t-size) / var(--t2t-line) var(--t2t-font);
    box-shadow: var(--t2t-shadow);
    overflow: auto;
  }
  dialog::backdrop {
    background: var(--t2t-backdrop);
  }
  .inside {
    padding: 12px 18px 18px;
  }
  .inside .head {
    display: flex;
    align-items: center;
    justify-content: space-between;
    margin: 0 -8px 8px 0;
  }
  .inside .head h2 {
    font-size: var(--t2t-size-large);
  }
`;
