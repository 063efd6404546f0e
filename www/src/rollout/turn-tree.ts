import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { element } from "../element.js";
import type { RolloutDetail } from "../engine/contract.js";
import { SelectEvent } from "../selection.js";
import { styles } from "../styles.js";
import { plain } from "../text/safe-text.js";
import { safe, safeStyles } from "../text/safe.js";
import { VirtualRows } from "../text/virtual.js";
import { virtualStyles } from "../text/virtual-styles.js";
import { base, controls } from "../theme.js";
import { callName, count, sameCall } from "./calls.js";
import { JOINS } from "./joins.js";
import { treeOf, type TreeRow } from "./tree.js";

const HEIGHT = 26;
/** So many segments of a call at most are drawn in its bar. */
const SEGMENTS = 40;

/** The calls as a tree, each with a bar: when it was, or where the trace has no times, how many tokens it has. */
@element("t2t-turn-tree")
export class TurnTree extends LitElement {
  static override styles = [base, controls, safeStyles, virtualStyles, css`
    :host {
      display: flex;
      flex-direction: column;
      min-height: 0;
    }
    .head {
      display: flex;
      align-items: baseline;
      gap: 8px;
      padding: 6px 12px;
    }
    .axis {
      margin-inline-start: auto;
      font-size: var(--t2t-size-tiny);
      color: var(--t2t-ink-faint);
    }
    .scroller {
      flex: 0 1 auto;
      outline-offset: -2px;
    }
    .row {
      display: grid;
      grid-template-columns: minmax(0, 1fr) clamp(48px, 30%, 220px) minmax(44px, auto);
      align-items: center;
      gap: 8px;
      height: 26px;
      padding-inline: 9px 12px;
      border-inline-start: 3px solid transparent;
      cursor: pointer;
      contain: content;
    }
    .row.tool {
      cursor: default;
    }
    .row:not(.tool):hover {
      background: var(--t2t-hover);
    }
    .row[aria-selected="true"] {
      background: var(--t2t-selected);
      border-inline-start-color: var(--t2t-accent);
    }
    .name {
      display: flex;
      align-items: center;
      gap: 6px;
      min-width: 0;
      padding-inline-start: calc(var(--depth) * 13px);
    }
    .twist {
      width: 12px;
      flex: none;
      color: var(--t2t-ink-faint);
      font-size: 9px;
    }
    .quiet {
      color: var(--t2t-ink-soft);
    }
    .label,
    .chip {
      flex: none;
    }
    .chip {
      line-height: 15px;
    }
    .track {
      position: relative;
      display: flex;
      height: 10px;
      border-radius: 2px;
      background: color-mix(in srgb, var(--t2t-border) 55%, transparent);
      overflow: hidden;
    }
    .track i {
      position: absolute;
      inset-block: 0;
      min-width: 1px;
      background: var(--line);
    }
    .track i.old {
      background: var(--t2t-border-strong);
      opacity: 0.35;
    }
    .new {
      text-align: end;
      font-size: var(--t2t-size-small);
      color: var(--t2t-ink-soft);
    }
  `];

  @property({ attribute: false }) detail!: RolloutDetail;
  /** The call that is looked at. */
  @property({ type: Number }) call = -1;
  @state() private closed = new Set<number>();
  private all: TreeRow[] = [];
  private rows: TreeRow[] = [];
  private names: string[] = [];
  /** Tokens of the longest call. */
  private most = 0;
  private readonly virtual = new VirtualRows(this, { scroller: ".scroller", count: () => this.rows.length, height: () => HEIGHT });

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    const { calls } = this.detail.rollout;
    const before = changed.get("detail") as RolloutDetail | undefined;
    const isGrown = before?.at === this.detail.at;
    if (changed.has("detail")) {
      this.all = treeOf(this.detail);
      this.names = namesOf(this.detail);
      this.most = calls.reduce((most, _, call) => Math.max(most, tokensOf(this.detail, call) ?? 0), 0);
      this.closed = new Set(isGrown ? [...this.closed].map((call) => sameCall(before!.rollout.calls, call, calls) ?? -1) : []);
    }
    if (changed.has("detail") || changed.has("closed")) {
      this.rows = [];
      let hidden = Infinity;
      for (const row of this.all) {
        if (row.depth > hidden) continue;
        hidden = row.call !== undefined && this.closed.has(row.call) ? row.depth : Infinity;
        this.rows.push(row);
      }
    }
    const at = this.rows.findIndex(({ call }) => call === this.call);
    if ((changed.has("call") || (changed.has("detail") && !isGrown)) && at >= 0) this.virtual.scrollTo(at, "auto");
  }

  protected override render() {
    const { times, spans, rollout } = this.detail;
    const end = [...times, ...spans.map(({ time }) => time)].reduce((last, time) => Math.max(last, time?.end ?? 0), 0);
    return html`
      <div class="head"><h3>Calls</h3><span class="faint number">${count(rollout.calls.length)}</span><span class="axis number">${end > 0 ? `0 – ${seconds(end)}` : "by tokens"}</span></div>
      <div class="scroller" role="tree" aria-label="Calls of the rollout" tabindex="0" aria-activedescendant="call-${this.call}" @keydown=${this.onKey} ${styles({ height: `${HEIGHT * this.rows.length}px` })}>
        ${this.virtual.rows((row) => this.row(row, end))}
      </div>
    `;
  }

  private row(at: number, end: number) {
    const row = this.rows[at]!;
    return row.call === undefined ? this.tool(at, row, end) : this.turn(at, row.call, row, end);
  }

  private turn(at: number, call: number, { depth, hasChildren }: TreeRow, end: number) {
    const { role, join, name, continued } = this.detail.rollout.calls[call]!;
    const how = join && JOINS[join];
    const isOpen = !this.closed.has(call);
    const all = tokensOf(this.detail, call);
    return html`<div class="row" role="treeitem" data-row=${at} id="call-${call}" aria-level=${depth + 1} aria-selected=${call === this.call ? "true" : "false"} aria-expanded=${hasChildren ? String(isOpen) : nothing}
      title="${plain(name, 80)}${how ? ` · ${how.tag}` : ""}" @click=${(event: Event) => this.onClick(event, call, hasChildren)}>
      <span class="name" ${styles({ "--depth": depth })}>
        <span class="twist" aria-hidden="true">${hasChildren ? (isOpen ? "▼" : "▶") : ""}</span>
        <span class="label ${role === "turn" ? "" : "quiet"}">${this.names[call]}</span>
        ${how && how.tag !== "extends" ? html`<span class="chip ${how.level}">${how.tag}</span>` : html`<span class="faint ellipsis">${how ? "extends" : safe(name.slice(0, 60), { chips: 3 })}</span>`}
      </span>
      <span class="track" aria-hidden="true">${this.bar(call, end)}</span>
      <span class="new number">${all === undefined ? nothing : continued > 0 ? `+${count(all - continued)}` : count(all)}</span>
    </div>`;
  }

  /** A span without tokens: there is nothing to look at but when it was. */
  private tool(at: number, { span: number, depth }: TreeRow, end: number) {
    const { name, time, status } = this.detail.spans[number!]!;
    return html`<div class="row tool" role="treeitem" data-row=${at} aria-level=${depth + 1} aria-disabled="true" aria-selected="false" title=${plain(name, 80)}>
      <span class="name" ${styles({ "--depth": depth })}>
        <span class="twist"></span><span class="quiet ellipsis">${safe(name.slice(0, 60), { chips: 3 })}</span>${status === "error" ? html`<span class="chip error">failed</span>` : nothing}
      </span>
      <span class="track" aria-hidden="true">${time && end > 0 ? html`<i class="observation" ${styles(span(time.start / end, time.end / end))}></i>` : nothing}</span>
      <span class="new number">${time ? seconds(time.end - time.start) : nothing}</span>
    </div>`;
  }

  private bar(call: number, end: number) {
    const time = this.detail.times[call];
    if (end > 0) return time ? html`<i class="model" ${styles(span(time.start / end, time.end / end))}></i>` : nothing;
    const { common, segments } = this.detail.rollout.calls[call]!;
    const whole = Math.max(1, this.most);
    const fresh = segments.filter(({ tokens }) => tokens[1] > common).slice(0, SEGMENTS);
    return html`<i class="old" ${styles(span(0, Math.min(common, tokensOf(this.detail, call) ?? 0) / whole))}></i>${fresh.map(({ kind, tokens }) => html`<i class=${kind} ${styles(span(Math.max(tokens[0], common) / whole, tokens[1] / whole))}></i>`)}`;
  }

  private onClick(event: Event, call: number, hasChildren: boolean): void {
    if (hasChildren && (event.target as Element).closest(".twist")) this.toggle(call);
    else this.dispatchEvent(new SelectEvent({ call, tokens: undefined }));
  }

  private toggle(call: number): void {
    const closed = new Set(this.closed);
    if (!closed.delete(call)) closed.add(call);
    this.closed = closed;
  }

  private onKey(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.rows.findIndex(({ call }) => call === this.call);
    const row = this.rows[at];
    if (!["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const isOpen = this.call >= 0 && !this.closed.has(this.call);
    if (row?.hasChildren && event.key === (isOpen ? "ArrowLeft" : "ArrowRight")) return this.toggle(this.call);
    const isCall = (row: TreeRow) => row.call !== undefined;
    const next = {
      ArrowDown: () => this.rows.find((other, place) => place > at && isCall(other)),
      ArrowUp: () => this.rows.findLast((other, place) => place < at && isCall(other)),
      ArrowLeft: () => this.rows.findLast((other, place) => place < at && isCall(other) && other.depth < row!.depth),
      ArrowRight: () => (row?.hasChildren ? this.rows[at + 1] : undefined),
      Home: () => this.rows.find(isCall),
      End: () => this.rows.findLast(isCall),
    }[event.key]!();
    if (next?.call !== undefined) this.dispatchEvent(new SelectEvent({ call: next.call, tokens: undefined }));
  }
}

/** How many tokens a call has: segments cover all of them, but without a tokenizer there are none. */
function tokensOf({ rollout }: RolloutDetail, call: number): number | undefined {
  const { segments, prompt } = rollout.calls[call]!;
  return segments.at(-1)?.tokens[1] ?? (rollout.tokenizer === undefined ? undefined : prompt);
}

function namesOf({ rollout: { calls } }: RolloutDetail): string[] {
  if (calls.length <= 200) return calls.map((_, at) => callName(calls, at));
  const numbers = new Map<string, number>();
  return calls.map(({ role }) => {
    numbers.set(role, (numbers.get(role) ?? 0) + 1);
    return `${role} ${numbers.get(role)}`;
  });
}

function span(from: number, to: number): Record<string, string> {
  return { left: `${(100 * from).toFixed(3)}%`, width: `${(100 * Math.max(0, to - from)).toFixed(3)}%` };
}

function seconds(value: number): string {
  return value >= 100 ? `${value.toFixed(0)} s` : value >= 1 ? `${value.toFixed(1)} s` : `${(value * 1000).toFixed(0)} ms`;
}
