import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { element } from "../element.js";
import { count } from "../rollout/calls.js";
import { base, controls } from "../theme.js";
import { safe, safeStyles } from "./safe.js";
import type { TokenFacts } from "./token-facts.js";
import { hex } from "./token-text.js";

@element("t2t-token-card")
export class TokenCard extends LitElement {
  static override styles = [base, controls, safeStyles, css`
    :host {
      display: block;
      width: 252px;
      padding: 8px 10px;
      border: 1px solid var(--t2t-border-strong);
      border-radius: var(--t2t-radius);
      background: var(--t2t-raised);
      box-shadow: var(--t2t-shadow);
      font-size: var(--t2t-size-small);
    }
    .head {
      display: flex;
      align-items: baseline;
      gap: 8px;
    }
    .head button {
      margin-inline-start: auto;
      min-height: 22px;
      padding: 0 6px;
      font-size: var(--t2t-size-tiny);
    }
    .text {
      margin: 6px 0;
      padding: 3px 6px;
      max-height: 76px;
      overflow: hidden;
      border-radius: var(--t2t-radius-small);
      background: var(--t2t-sunken);
      font-family: var(--t2t-mono);
      white-space: pre-wrap;
      overflow-wrap: anywhere;
      unicode-bidi: plaintext;
    }
    dl {
      display: grid;
      grid-template-columns: auto 1fr;
      gap: 1px 10px;
    }
    dt {
      color: var(--t2t-ink-faint);
    }
    dd {
      text-align: end;
      overflow-wrap: anywhere;
      font-variant-numeric: tabular-nums;
    }
    .note {
      margin-top: 4px;
      color: var(--t2t-ink-soft);
    }
  `];

  @property({ attribute: false }) facts!: TokenFacts;
  @property({ type: Boolean }) pinned = false;
  /** It follows the mouse. */
  @property({ type: Boolean }) floating = false;

  protected override render() {
    const { position, id, text, bytes, notes, segment, message, numbers } = this.facts;
    return html`
      <div class="head number">
        <strong>Token ${count(position)}</strong><span class="soft">id ${id}</span>
        ${this.floating ? nothing : html`<button class="quiet" title=${this.pinned ? "Close" : "Keep it in sight (I)"} @click=${() => this.dispatchEvent(new Event("pin"))}>${this.pinned ? "Unpin" : "Pin"}</button>`}
      </div>
      <div class="text">${text === "" ? html`<span class="faint">no text of its own</span>` : safe(text.slice(0, 400), { marks: "all", chips: 20 })}</div>
      <dl>
        ${bytes && bytes.length > 0 ? html`<dt>bytes</dt><dd class="mono">${hex(bytes.subarray(0, 32))}${bytes.length > 32 ? " …" : ""}</dd>` : nothing}
        ${segment ? html`<dt>segment</dt><dd>${segment}</dd>` : nothing}
        ${message ? html`<dt>message</dt><dd>${safe(message, { chips: 4 })}</dd>` : nothing}
        ${numbers.map(([name, value]) => html`<dt>${safe(name.slice(0, 40), { chips: 4 })}</dt><dd>${value}</dd>`)}
      </dl>
      ${notes.map((note) => html`<p class="note">${note}</p>`)}
    `;
  }
}
