import { LitElement, css, html, nothing } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "../element.js";
import type { Hit, Row } from "../engine/contract.js";
import { LineWindow } from "../line-window.js";
import { placeOf } from "../list/group-line.js";
import { styles } from "../styles.js";
import { safe, safeStyles } from "../text/safe.js";
import { base, controls } from "../theme.js";

const LINE = 26;
const COUNT = new Intl.NumberFormat("en");

/** A rollout, or a hit in it. */
type Line = { rollout: number; count: number } | { hit: Hit };

/** All hits, by rollouts, each with what stands around it. Says `pick` with the hit. */
@element("t2t-results")
export class Results extends LitElement {
  static override styles = [
    base,
    controls,
    safeStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-height: 0;
      }
      .lines {
        flex: 1;
        min-height: 0;
        overflow: auto;
        contain: strict;
        outline-offset: -2px;
      }
      .space {
        position: relative;
      }
      .window {
        position: absolute;
        inset: 0 0 auto;
      }
      .line {
        display: flex;
        align-items: center;
        gap: 8px;
        height: 26px;
        padding: 0 8px 0 18px;
        cursor: pointer;
        white-space: pre;
        overflow: hidden;
      }
      .line.rollout {
        padding-inline-start: 8px;
        font-weight: 600;
        background: var(--t2t-sunken);
        border-bottom: 1px solid var(--t2t-border);
      }
      .line:hover {
        background: var(--t2t-hover);
      }
      .line[aria-selected="true"] {
        background: var(--t2t-selected);
        box-shadow: inset 2px 0 var(--t2t-accent);
      }
      .call {
        flex: none;
        min-width: 44px;
        font-size: var(--t2t-size-tiny);
      }
      .snippet {
        flex: 1;
        display: flex;
        min-width: 0;
        overflow: hidden;
      }
      .before {
        flex: 0 1 auto;
        max-width: 45%;
        overflow: hidden;
        display: flex;
        justify-content: flex-end;
      }
      .after {
        flex: 1 1 0;
        overflow: hidden;
        text-overflow: ellipsis;
      }
      mark {
        flex: none;
        max-width: 60%;
        overflow: hidden;
        background: var(--t2t-hit);
        color: inherit;
        border-radius: 2px;
      }
      .none {
        padding: 32px 16px;
        text-align: center;
        color: var(--t2t-ink-soft);
      }
    `,
  ];

  @property({ attribute: false }) rows: Row[] = [];
  @property({ attribute: false }) hits: Hit[] = [];
  /** Changes whenever hits come. */
  @property({ type: Number }) tick = 0;
  /** Position of the hit that is looked at, or -1. */
  @property({ type: Number }) current = -1;
  @property({ type: Boolean }) isRunning = false;
  @state() private lines: Line[] = [];
  @query(".lines") private scroller!: HTMLElement | null;
  private readonly window = new LineWindow(this, LINE);
  private made?: { hits: Hit[]; count: number };

  override willUpdate(changed: Map<PropertyKey, unknown>) {
    if (this.made?.hits !== this.hits || this.made.count !== this.hits.length) {
      this.lines = linesOf(this.hits);
      this.made = { hits: this.hits, count: this.hits.length };
    }
    if (changed.has("current") && this.current >= 0) {
      const line = this.lines.findIndex((one) => "hit" in one && one.hit === this.hits[this.current]);
      void this.updateComplete.then(() => this.window.reveal(line));
    }
  }

  override updated() {
    this.window.watch(this.scroller);
  }

  override render() {
    const { lines } = this;
    if (lines.length === 0) return html`<p class="none">${this.isRunning ? "Searching…" : "Nothing was found."}</p>`;
    const { first, last } = this.window.range(lines.length);
    return html`<div class="lines" role="listbox" tabindex="0" aria-label="Hits" @scroll=${this.window.onScroll} @keydown=${this.onKey}>
      <div class="space" role="presentation" ${styles({ height: `${lines.length * LINE}px` })}>
        <div class="window" role="presentation" ${styles({ transform: `translateY(${first * LINE}px)` })}>
          ${lines.slice(first, last).map((line) => ("hit" in line ? this.hit(line.hit) : this.rollout(line)))}
        </div>
      </div>
    </div>`;
  }

  private rollout({ rollout, count }: { rollout: number; count: number }) {
    const row = this.rows[rollout];
    return html`<div class="line rollout" role="presentation">
      <span class="ellipsis">${row ? placeOf(row, true) : nothing}</span>
      <span class="faint number">${COUNT.format(count)}</span>
    </div>`;
  }

  private hit(hit: Hit) {
    const { snippet, call, tokens } = hit;
    return html`<div
      class="line"
      role="option"
      aria-selected=${hit === this.hits[this.current]}
      @click=${() => this.dispatchEvent(new CustomEvent("pick", { detail: hit }))}
    >
      <span class="call faint number">call ${call + 1}</span>
      ${snippet
        ? html`<span class="snippet mono"
            ><span class="before"><span>${safe(oneLine(snippet.before))}</span></span
            ><mark>${safe(oneLine(snippet.found))}</mark><span class="after">${safe(oneLine(snippet.after))}</span></span
          >`
        : html`<span class="mono">tokens ${tokens[0]} to ${tokens[1]}</span>`}
    </div>`;
  }

  private onKey(event: KeyboardEvent): void {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || this.hits.length === 0) return;
    event.preventDefault();
    const detail = this.hits[Math.min(this.hits.length - 1, Math.max(0, this.current + by))];
    this.dispatchEvent(new CustomEvent("pick", { detail }));
  }
}

const oneLine = (text: string) => text.replace(/\s*\n\s*/g, " ⏎ ");

function linesOf(hits: readonly Hit[]): Line[] {
  const lines: Line[] = [];
  let head: { rollout: number; count: number } | undefined;
  for (const hit of hits) {
    if (head?.rollout !== hit.rollout) lines.push((head = { rollout: hit.rollout, count: 0 }));
    head.count++;
    lines.push({ hit });
  }
  return lines;
}
