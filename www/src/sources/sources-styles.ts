import { css } from "lit";

export const sourcesStyles = css`
  :host {
    display: block;
    overflow: auto;
    background: var(--t2t-bg);
  }
  .page {
    max-width: 860px;
    margin: 0 auto;
    padding: clamp(16px, 5vh, 56px) 20px 32px;
    display: grid;
    gap: 20px;
  }
  .intro {
    display: flex;
    flex-wrap: wrap;
    align-items: start;
    gap: 10px 16px;
  }
  .intro div {
    flex: 1 1 260px;
  }
  h1 {
    font-size: var(--t2t-size-title);
    font-weight: 650;
    letter-spacing: -0.01em;
    line-height: 1.3;
  }
  .intro p {
    margin-top: 4px;
    color: var(--t2t-ink-soft);
  }
  .intro .linked {
    color: var(--t2t-accent-ink);
  }
  .waiting {
    display: grid;
    justify-items: center;
    gap: 8px;
    padding: clamp(24px, 6vh, 52px) 20px;
    border: 1px solid var(--t2t-border);
    border-radius: 10px;
    background: var(--t2t-raised);
    text-align: center;
    color: var(--t2t-ink-soft);
  }
  .waiting ul {
    width: 100%;
  }
  .drop {
    display: grid;
    justify-items: center;
    gap: 6px;
    padding: clamp(24px, 6vh, 52px) 20px;
    border: 1.5px dashed var(--t2t-border-strong);
    border-radius: 10px;
    background: var(--t2t-sunken);
    text-align: center;
  }
  .drop.below {
    padding-block: 18px;
  }
  .drop.over {
    border-color: var(--t2t-accent);
    border-style: solid;
    background: var(--t2t-selected);
  }
  .drop svg {
    color: var(--t2t-accent-ink);
    margin-bottom: 4px;
  }
  .drop strong {
    font-size: var(--t2t-size-large);
    font-weight: 600;
  }
  .drop p {
    color: var(--t2t-ink-soft);
    max-width: 56ch;
  }
  .actions {
    display: flex;
    flex-wrap: wrap;
    justify-content: center;
    gap: 8px;
    margin-top: 12px;
  }
  .options {
    display: flex;
    flex-wrap: wrap;
    gap: 6px 18px;
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
  }
  label.options {
    gap: 6px;
  }
  .state {
    display: grid;
    grid-template-columns: repeat(2, minmax(0, 1fr));
    gap: 12px;
  }
  .card {
    min-width: 0;
    padding: 10px 12px;
    border: 1px solid var(--t2t-border);
    border-radius: var(--t2t-radius);
    background: var(--t2t-raised);
    display: grid;
    grid-template-columns: minmax(0, 1fr);
    gap: 6px;
    align-content: start;
  }
  .card h2 {
    display: flex;
    align-items: center;
    gap: 6px;
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
  }
  .card .mark {
    width: 8px;
    height: 8px;
    border-radius: 4px;
    border: 1.5px solid var(--t2t-border-strong);
  }
  .card .mark.done {
    background: var(--t2t-accent);
    border-color: var(--t2t-accent);
  }
  .card .why {
    color: var(--t2t-ink-soft);
    font-size: var(--t2t-size-small);
    overflow-wrap: anywhere;
  }
  .card li {
    min-width: 0;
  }
  .line {
    display: flex;
    align-items: center;
    gap: 8px;
    min-width: 0;
  }
  .line .name {
    flex: 1;
    min-width: 0;
  }
  .line .faint {
    font-size: var(--t2t-size-tiny);
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .line button {
    flex: none;
  }
  .followed {
    flex-wrap: wrap;
    font-size: var(--t2t-size-small);
  }
  .followed .says {
    flex: 1 1 200px;
  }
  .followed.lost .says {
    color: var(--t2t-warning-ink);
  }
  .small {
    min-height: 22px;
    padding: 0 6px;
    font-size: var(--t2t-size-tiny);
  }
  .failed .name {
    color: var(--ink);
    font-weight: 600;
  }
  .card .failed .why {
    color: var(--ink);
    background: var(--bg);
    border-radius: var(--t2t-radius-small);
    padding: 4px 8px;
    margin-top: 2px;
  }
  .code {
    font: var(--t2t-size-tiny) var(--t2t-mono);
    opacity: 0.8;
  }
  .undecided {
    display: flex;
    flex-wrap: wrap;
    align-items: end;
    gap: 6px 8px;
    padding: 8px;
    border-radius: var(--t2t-radius-small);
    background: var(--t2t-warning-bg);
  }
  .undecided :is(.name, .why) {
    flex: 1 1 100%;
  }
  .undecided label {
    flex: 1 1 120px;
    display: grid;
    gap: 2px;
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-soft);
  }
  .undecided input {
    color: var(--t2t-ink);
    width: 100%;
  }
  .columns {
    display: grid;
    grid-template-columns: minmax(0, 3fr) minmax(0, 2fr);
    gap: 12px;
    align-items: start;
  }
  .kept {
    display: grid;
    gap: 2px;
  }
  .kept button.pick {
    width: 100%;
    justify-content: flex-start;
    padding: 3px 6px;
  }
  .kept button.pick .name {
    flex: 1;
    text-align: start;
  }
  footer {
    font-size: var(--t2t-size-small);
    color: var(--t2t-ink-faint);
  }
  @media (max-width: 719px) {
    .state,
    .columns {
      grid-template-columns: minmax(0, 1fr);
    }
    .page {
      padding-inline: 12px;
    }
  }
`;
