import { css, html, LitElement } from "lit";
import { property, state } from "lit/decorators.js";
import { element } from "../element.js";
import { guard } from "lit/directives/guard.js";
import type { MoveEvent } from "../selection.js";
import { toClipboard } from "../text/copy.js";
import { safe, safeStyles } from "../text/safe.js";
import { VirtualRows } from "../text/virtual.js";
import { virtualStyles } from "../text/virtual-styles.js";
import { base, controls } from "../theme.js";
import { count } from "./calls.js";

/** Longer lines are cut; each press shows more of them. */
const FIRST = 2000;
const GROWTH = 16;
const MOST = 100_000;

/** The tab Raw: the span as it stands in the trace, line by line. */
@element("t2t-raw")
export class Raw extends LitElement {
  static override styles = [base, controls, safeStyles, virtualStyles, css`
    :host {
      display: flex;
      flex-direction: column;
      min-height: 0;
    }
    .tools {
      display: flex;
      align-items: center;
      gap: 8px;
      padding: 6px 12px;
      border-bottom: 1px solid var(--t2t-border);
      font-size: var(--t2t-size-small);
    }
    .tools button {
      margin-inline-start: auto;
      min-height: 24px;
    }
    .scroller {
      flex: 1;
      min-height: 120px;
      font: var(--t2t-size-small) / 18px var(--t2t-mono);
    }
    .row {
      display: grid;
      grid-template-columns: minmax(46px, auto) minmax(0, 1fr);
      gap: 10px;
      padding-inline-end: 12px;
      contain: content;
    }
    .at {
      padding-inline-start: 6px;
      text-align: end;
      color: var(--t2t-ink-faint);
      user-select: none;
    }
    .line {
      white-space: pre-wrap;
      overflow-wrap: anywhere;
      unicode-bidi: plaintext;
      min-height: 18px;
      padding-inline-start: 4ch;
      text-indent: -4ch;
    }
    .line button {
      min-height: 20px;
      font: var(--t2t-size-tiny) / 16px var(--t2t-font);
    }
  `];

  @property({ attribute: false }) text = "";
  @state() private grown: ReadonlyMap<number, number> = new Map();
  @state() private copied = "";
  private starts: number[] = [];
  private readonly virtual = new VirtualRows(this, { scroller: ".scroller", count: () => this.starts.length, height: () => 18 });

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("text")) return;
    this.starts = [0];
    for (let feed = this.text.indexOf("\n"); feed !== -1; feed = this.text.indexOf("\n", feed + 1)) this.starts.push(feed + 1);
    this.grown = new Map();
    this.virtual.forget();
    this.virtual.scrollTo(0, "start");
  }

  move(to: MoveEvent["to"]): void {
    const last = this.starts.length - 1;
    const row = { next: this.virtual.top + 1, previous: this.virtual.top - 1, first: 0, last }[to];
    this.virtual.scrollTo(Math.min(Math.max(row, 0), last), to === "last" ? "end" : "start");
  }

  protected override render() {
    return html`
      <div class="tools">
        <span class="faint number">${count(this.starts.length)} lines, ${count(this.text.length)} characters</span>
        <button @click=${this.copy}>${this.copied || "Copy all"}</button>
      </div>
      <div class="scroller" tabindex="0" role="group" aria-label="The span as it stands in the trace">
        ${this.virtual.rows((row) => html`<div class="row" data-row=${row}>${guard([this.text, row, this.grown.get(row)], () => this.line(row))}</div>`)}
      </div>
    `;
  }

  private line(row: number) {
    const start = this.starts[row]!;
    const end = row + 1 < this.starts.length ? this.starts[row + 1]! - 1 : this.text.length;
    const shown = Math.min(end - start, this.grown.get(row) ?? FIRST);
    const next = Math.min(end - start, shown * GROWTH, shown + MOST);
    return html`<span class="at number" aria-hidden="true">${row + 1}</span><span class="line">${safe(this.text.slice(start, start + shown))}${start + shown < end
      ? html`… <button @click=${() => (this.grown = new Map(this.grown).set(row, next))}>${next === end - start ? `Show all ${count(next)} characters` : `Show ${count(next)} of ${count(end - start)} characters`}</button>`
      : ""}</span>`;
  }

  private async copy(): Promise<void> {
    this.copied = (await toClipboard(this.text)) ? "Copied" : "The browser does not allow it";
    setTimeout(() => (this.copied = ""), 1600);
  }
}
