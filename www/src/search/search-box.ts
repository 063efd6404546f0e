import { LitElement, css, html, nothing } from "lit";
import { property, query } from "lit/decorators.js";
import { element } from "../element.js";
import type { Query } from "../engine/contract.js";
import { icon } from "../icons.js";
import { plain } from "../text/safe-text.js";
import { base, controls } from "../theme.js";
import type { SearchState } from "./search-state.js";

const COUNT = new Intl.NumberFormat("en");
const KINDS: { kind: Query["kind"]; label: string; placeholder: string }[] = [
  { kind: "text", label: "Text", placeholder: "Search the text" },
  { kind: "regex", label: "Regex", placeholder: "Regular expression" },
  { kind: "ids", label: "Ids", placeholder: "Token ids: 151645 198" },
];
/** Milliseconds that one may think between two letters. */
const PATIENCE = 250;

/** The field that one searches with. Says `search` when hits are to be looked for, and `step` with 1 or -1 to go to the next or previous one. */
@element("t2t-search")
export class SearchBox extends LitElement {
  static override styles = [
    base,
    controls,
    css`
      :host {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 4px;
        min-width: 0;
        position: relative;
      }
      .field {
        flex: 1 1 150px;
        display: flex;
        align-items: center;
        min-width: 0;
        border: 1px solid var(--t2t-border-strong);
        border-radius: var(--t2t-radius-small);
        background: var(--t2t-bg);
      }
      .field:focus-within {
        outline: 2px solid var(--t2t-focus);
        outline-offset: -1px;
      }
      .field > svg {
        flex: none;
        margin-inline-start: 7px;
        color: var(--t2t-ink-faint);
      }
      .field input {
        flex: 1;
        border: 0 !important;
        background: none !important;
        min-height: 26px !important;
        padding-inline: 6px !important;
        outline: none;
      }
      .field select {
        border: 0;
        min-height: 26px;
        background: none;
        color: var(--t2t-ink-soft);
        font-size: var(--t2t-size-small);
        padding: 0 2px;
      }
      .field option {
        background: var(--t2t-raised);
        color: var(--t2t-ink);
      }
      .field button {
        min-height: 22px;
        padding: 0 5px;
        margin-inline-end: 2px;
        border-color: transparent;
        background: none;
        font-size: var(--t2t-size-small);
        color: var(--t2t-ink-soft);
      }
      .field button[aria-pressed="true"] {
        color: var(--t2t-accent-ink);
        background: var(--t2t-selected);
        border-color: transparent;
      }
      .count {
        font-size: var(--t2t-size-small);
        color: var(--t2t-ink-soft);
        white-space: nowrap;
        min-width: 58px;
        text-align: end;
      }
      .failed {
        position: absolute;
        inset: calc(100% + 2px) 0 auto;
        z-index: 3;
        padding: 5px 8px;
        border-radius: var(--t2t-radius-small);
        border: 1px solid var(--line);
        color: var(--ink);
        background: var(--bg);
        font-size: var(--t2t-size-small);
      }
      progress {
        position: absolute;
        inset: auto 0 -4px;
        height: 2px;
      }
    `,
  ];

  @property({ attribute: false }) state!: SearchState;
  /** Changes whenever the state does. */
  @property({ type: Number }) tick = 0;
  /** Whether there is a rollout to search in alone. */
  @property({ type: Boolean }) hasRollout = false;
  @query("input") private input!: HTMLInputElement;
  private waiting?: ReturnType<typeof setTimeout>;

  override disconnectedCallback() {
    super.disconnectedCallback();
    clearTimeout(this.waiting);
  }

  override focus() {
    this.input.focus();
    this.input.select();
  }

  override render() {
    const { query, isEverywhere, isRunning, progress, failure, hits } = this.state;
    const { placeholder } = KINDS.find(({ kind }) => kind === query.kind)!;
    return html`
      <div class="field" role="search">
        ${icon("search", 14)}
        <input
          type="search"
          aria-label="Search"
          aria-keyshortcuts="/"
          aria-invalid=${failure !== undefined}
          spellcheck="false"
          placeholder=${placeholder}
          .value=${query.text}
          @input=${() => this.change({ text: this.input.value })}
          @keydown=${this.onKey}
        />
        ${query.kind === "ids"
          ? nothing
          : html`<button
              type="button"
              aria-pressed=${query.matchCase}
              aria-label="Match case"
              title="Match case"
              @click=${() => this.change({ matchCase: !query.matchCase }, true)}
            >
              Aa
            </button>`}
        <select aria-label="What is searched for" @change=${(event: Event) => this.change({ kind: valueOf(event) as Query["kind"] }, true)}>
          ${KINDS.map(({ kind, label }) => html`<option value=${kind} ?selected=${kind === query.kind}>${label}</option>`)}
        </select>
        <select aria-label="Where" @change=${(event: Event) => this.scope(valueOf(event) === "all")}>
          <option value="all" ?selected=${isEverywhere}>All</option>
          <option value="one" ?selected=${!isEverywhere} ?disabled=${!this.hasRollout}>This rollout</option>
        </select>
      </div>
      ${this.state.isActive && !failure
        ? html`<span class="count number" aria-live="polite">${this.count()}</span>
            <button type="button" class="quiet icon" aria-label="Previous hit" title="Previous hit (Shift+Enter)" ?disabled=${hits.length === 0} @click=${() => this.step(-1)}>
              ${icon("up")}
            </button>
            <button type="button" class="quiet icon" aria-label="Next hit" title="Next hit (Enter)" ?disabled=${hits.length === 0} @click=${() => this.step(1)}>
              ${icon("down")}
            </button>
            ${isRunning ? html`<button type="button" @click=${() => this.state.stop()}>Stop</button>` : nothing}`
        : nothing}
      ${isRunning && progress && progress.total > 1
        ? html`<progress aria-label="Rollouts that were searched" max=${progress.total} value=${progress.done}></progress>`
        : nothing}
      ${failure ? html`<p class="failed error" role="alert">${plain(failure, 300)}</p>` : nothing}
    `;
  }

  private count(): string {
    const { hits, current, isRunning, isWaiting, isCut } = this.state;
    if (isWaiting) return "Searching";
    const total = `${COUNT.format(hits.length)}${isCut || isRunning ? "+" : ""}`;
    if (current >= 0) return `${COUNT.format(current + 1)} of ${total}`;
    if (hits.length === 0) return isRunning ? "Searching" : "No hits";
    return `${total} ${hits.length === 1 ? "hit" : "hits"}`;
  }

  private onKey(event: KeyboardEvent): void {
    if (event.key === "Enter") {
      event.preventDefault();
      this.step(event.shiftKey ? -1 : 1);
    } else if (event.key === "Escape" && this.input.value !== "") {
      event.preventDefault();
      event.stopPropagation();
      this.change({ text: "" }, true);
    }
  }

  private change(change: Partial<Query>, isNow = false): void {
    this.state.query = { ...this.state.query, ...change };
    this.searchSoon(isNow ? 0 : PATIENCE);
  }

  private scope(isEverywhere: boolean): void {
    this.state.isEverywhere = isEverywhere;
    this.searchSoon(0);
  }

  private searchSoon(millis: number): void {
    this.state.isWaiting = true;
    this.requestUpdate();
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.dispatchEvent(new Event("search")), millis);
  }

  private step(by: 1 | -1): void {
    clearTimeout(this.waiting);
    this.dispatchEvent(new CustomEvent("step", { detail: by }));
  }
}

const valueOf = (event: Event) => (event.target as HTMLSelectElement).value;
