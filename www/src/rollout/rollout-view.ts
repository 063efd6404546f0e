import { html, LitElement, nothing } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "../element.js";
import { cache } from "lit/directives/cache.js";
import type { CallTokens, Engine, Finding, Hit, RolloutDetail, Row } from "../engine/contract.js";
import { Pace } from "../pace.js";
import { SelectEvent, type MoveEvent, type Selection, type Tab } from "../selection.js";
import { safe, safeStyles } from "../text/safe.js";
import "../text/text-lines.js";
import "../text/tokens.js";
import { base, controls } from "../theme.js";
import { callName, sameCall, usualCall } from "./calls.js";
import "./chat.js";
import "./findings.js";
import type { DriftEvent } from "./findings.js";
import "./header.js";
import "./raw.js";
import "./turn-tree.js";
import { viewStyles } from "./view-styles.js";

const TABS: [tab: Tab, label: string][] = [["chat", "Chat"], ["text", "Text"], ["tokens", "Tokens"], ["raw", "Raw"]];
/** Something that is fetched for a tab, and what it was fetched for. */
interface Fetched<T> {
  call: number;
  value?: T;
  problem?: string;
}
/** The call of what was fetched before the rollout has grown: it stays in sight until it is fetched again. */
const BEFORE = -1;

/** One rollout: what it is, what was found in it, its calls, and what the one that is looked at says. */
@element("t2t-rollout-view")
export class RolloutView extends LitElement {
  static override styles = [base, controls, safeStyles, viewStyles];

  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) row!: Row;
  @property({ attribute: false }) selection: Selection = { tab: "chat" };
  /** What was found by search in this rollout, in order. */
  @property({ attribute: false }) hits: Hit[] = [];
  /** Which of them is looked at; -1 for none. */
  @property({ type: Number }) hit = -1;

  @state() private detail?: RolloutDetail;
  @state() private problem = "";
  @state() private drift?: Finding[];
  @state() private tokens?: Fetched<CallTokens>;
  @state() private raw?: Fetched<string>;
  /** The call that was looked at when the rollout grew. */
  private held?: number;
  /** Tabs that were open stay as they were. */
  @query("[data-pane]") private pane?: (HTMLElement & { move?: (to: MoveEvent["to"]) => void }) | null;
  /** All of them, made anew only when there are others. */
  private findings: Finding[] = [];

  constructor() {
    super();
    this.addEventListener("t2t-move", (event) => this.pane?.move?.((event as unknown as MoveEvent).to));
  }

  private get call(): number {
    const calls = this.detail?.rollout.calls ?? [];
    // A conversation goes on with what comes; a text that somebody reads stays.
    const call = this.selection.call ?? (this.selection.tab === "chat" ? undefined : this.held);
    return call !== undefined && calls[call] ? call : usualCall(calls);
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    const before = changed.get("row") as Row | undefined;
    const isOther = changed.has("row") && (before?.at !== this.row.at || before.key !== this.row.key);
    if (changed.has("engine") || isOther) void this.load();
    else if (before && before.revision !== this.row.revision) void this.grow();
    if (changed.has("detail") || changed.has("drift")) this.findings = [...(this.detail?.rollout.findings ?? []), ...(this.drift ?? [])];
    if (!this.detail || this.call < 0) return;
    const { tab } = this.selection;
    if ((tab === "text" || tab === "tokens") && this.tokens?.call !== this.call) void this.fetch("tokens", this.detail, this.call);
    if (tab === "raw" && this.raw?.call !== this.call) void this.fetch("raw", this.detail, this.call);
  }

  /** Looks at the rollout again, with another tokenizer for instance. */
  async load(): Promise<void> {
    const { row, engine } = this;
    this.problem = "";
    try {
      const detail = await engine.rollout(row.at);
      // To take it in and to draw it are two tasks: each may be long.
      await new Pace().rest();
      if (row !== this.row && row.key !== this.row.key) return;
      this.detail = detail;
      this.tokens = this.raw = this.drift = this.held = undefined;
    } catch (error) {
      if (row !== this.row) return;
      this.detail = undefined;
      this.problem = wordsOf(error);
    }
  }

  /** Looks at it again, for more of it has come. What is in sight stays until it can be drawn anew. */
  private async grow(): Promise<void> {
    const { row, engine, detail: before } = this;
    if (!before || before.at !== row.at) return this.load();
    const detail = await engine.rollout(row.at).catch(() => undefined);
    if (!detail || row.key !== this.row.key || before !== this.detail) return;
    const same = (call: number | undefined) => sameCall(before.rollout.calls, call, detail.rollout.calls);
    const { call, tab } = this.selection;
    // Before the detail, so that both are drawn at once: the same call may have another position.
    if (call !== same(call)) this.dispatchEvent(new SelectEvent({ call: same(call), tokens: same(call) === undefined ? undefined : this.selection.tokens }));
    this.held = tab === "chat" ? undefined : same(this.call);
    const { value } = this.tokens ?? {};
    const at = same(value?.call);
    this.tokens = value && at !== undefined ? { call: BEFORE, value: { ...value, call: at } } : undefined;
    if (this.raw) this.raw = { ...this.raw, call: BEFORE };
    this.drift = undefined;
    this.detail = detail;
  }

  private async fetch(what: "tokens" | "raw", detail: RolloutDetail, call: number): Promise<void> {
    const put = (fetched: Partial<Fetched<never>>) => {
      if (detail === this.detail && this[what]?.call === call) this[what] = { call, ...fetched };
    };
    // What was there stays in sight until the other is.
    const value = what === "tokens" || this.raw?.call === BEFORE ? this[what]?.value : undefined;
    this[what] = { call, value } as Fetched<never>;
    try {
      const value = await this.engine[what](detail.at, call);
      await new Pace().rest();
      put({ value: value as never });
    } catch (error) {
      put({ problem: wordsOf(error) });
    }
  }

  protected override render() {
    const { detail, problem } = this;
    if (problem) return html`<div class="state" role="alert"><h3>This rollout cannot be shown</h3><p>${safe(problem)}</p><button @click=${this.load}>Try again</button></div>`;
    if (!detail) return html`<div class="state" role="status"><p class="late">Decoding…</p><progress class="late" aria-label="Decoding"></progress></div>`;
    const { findings } = this;
    return html`
      <div class="view">
        <t2t-rollout-header .detail=${detail} .row=${this.row}></t2t-rollout-header>
        <div class="side">
          <t2t-turn-tree .detail=${detail} .call=${this.call}></t2t-turn-tree>
          <t2t-findings .engine=${this.engine} .detail=${detail} .findings=${findings} .selection=${this.selection} ?checked=${this.drift !== undefined} @t2t-drift=${(event: DriftEvent) => (this.drift = event.findings)}></t2t-findings>
        </div>
        <div class="main">
          <div class="tabs" role="tablist" aria-label="Ways to look at ${this.call >= 0 ? callName(detail.rollout.calls, this.call) : "it"}" @keydown=${this.onTabKey}>
            ${TABS.map(([tab, label]) => html`<button role="tab" id="tab-${tab}" aria-controls="pane" aria-selected=${String(this.selection.tab === tab)} tabindex=${this.selection.tab === tab ? 0 : -1} @click=${() => this.open(tab)}>${label}</button>`)}
            <span class="which faint number">${this.call >= 0 ? callName(detail.rollout.calls, this.call) : nothing}</span>
          </div>
          <div class="pane" id="pane" role="tabpanel" aria-labelledby="tab-${this.selection.tab}">${this.call < 0 ? html`<p class="state">This rollout has no calls.</p>` : cache(this.body(detail))}</div>
        </div>
      </div>
    `;
  }

  private body(detail: RolloutDetail) {
    const { engine, selection, hits, hit, findings } = this;
    if (selection.tab === "chat") return html`<t2t-chat data-pane .engine=${engine} .detail=${detail} .selection=${selection} .hits=${hits} .hit=${hit}></t2t-chat>`;
    const fetched = selection.tab === "raw" ? this.raw : this.tokens;
    if (fetched?.problem) return html`<div class="state" role="alert"><p>${safe(fetched.problem)}</p></div>`;
    if (!fetched?.value) return html`<div class="state" role="status"><p class="late">Decoding…</p></div>`;
    if (selection.tab === "raw") return html`<t2t-raw data-pane .text=${fetched.value as string}></t2t-raw>`;
    const tokens = fetched.value as CallTokens;
    // While those of another call are on their way.
    const shown = tokens.call === this.call ? selection : { tab: selection.tab };
    return selection.tab === "text"
      ? html`<t2t-text data-pane .engine=${engine} .detail=${detail} .tokens=${tokens} .selection=${shown} .hits=${hits} .hit=${hit} .findings=${findings}></t2t-text>`
      : html`<t2t-tokens data-pane .engine=${engine} .detail=${detail} .tokens=${tokens} .selection=${shown} .hits=${hits} .hit=${hit} .findings=${findings}></t2t-tokens>`;
  }

  private open(tab: Tab): void {
    this.dispatchEvent(new SelectEvent({ tab }));
  }

  private onTabKey(event: KeyboardEvent): void {
    const at = TABS.findIndex(([tab]) => tab === this.selection.tab);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1 + TABS.length, Home: 0, End: TABS.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    const [tab] = TABS[to % TABS.length]!;
    this.open(tab);
    this.renderRoot.querySelector<HTMLElement>(`#tab-${tab}`)?.focus();
  }
}

function wordsOf(error: unknown): string {
  return (error as { message?: string }).message ?? String(error);
}
