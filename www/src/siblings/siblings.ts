import { LitElement, html, nothing } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "../element.js";
import { repeat } from "lit/directives/repeat.js";
import type { Engine, RolloutDetail, Row } from "../engine/contract.js";
import { findingsCell, rewardCell } from "../list/cells.js";
import type { Scale } from "../list/columns.js";
import { placeOf } from "../list/group-line.js";
import { cellStyles } from "../list/list-styles.js";
import "../rollout/chat.js";
import { SelectEvent, type Selection } from "../selection.js";
import { failureOf } from "../session.js";
import { styles } from "../styles.js";
import { plain } from "../text/safe-text.js";
import { base, controls } from "../theme.js";
import { partingOf, type Parting } from "./parting.js";
import { siblingsStyles } from "./siblings-styles.js";

/** Least width of a column in pixels; fewer columns share what there is. */
const LEAST = 300;
const COUNT = new Intl.NumberFormat("en");

/** All of a conversation, from its beginning. */
const WHOLE: Selection = { tab: "chat" };

/** A rollout that is shown, as far as it is there. */
interface Shown {
  detail?: RolloutDetail;
  failure?: string;
  /** Where it parts from the first one. */
  parting?: Parting | "same" | "unknown";
}

/** Rollouts of one sample beside each other. Only the columns that are seen exist. */
@element("t2t-siblings")
export class Siblings extends LitElement {
  static override styles = [base, controls, cellStyles, siblingsStyles];

  @property({ attribute: false }) engine!: Engine;
  /** The rollouts of the sample, in the order of their numbers. */
  @property({ attribute: false }) rows: Row[] = [];
  @property({ attribute: false }) selection: Selection = { tab: "chat" };
  @state() private shown = new Map<string, Shown>();
  @state() private left = 0;
  @state() private width = 1000;
  @state() private isTogether = true;
  @query(".columns") private scroller!: HTMLElement;
  /** Keys of rows, with the revision that was asked for. */
  private readonly asked = new Map<string, number | undefined>();
  /** What scrolls in each column. */
  private readonly scrollers = new Map<LitElement, HTMLElement | undefined>();
  private readonly sizes = new ResizeObserver(([entry]) => (this.width = entry!.contentRect.width));

  override firstUpdated() {
    this.sizes.observe(this.scroller);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes.disconnect();
  }

  override willUpdate(changed: Map<PropertyKey, unknown>) {
    if (!changed.has("rows")) return;
    const keys = new Set(this.rows.map(({ key }) => key));
    for (const key of this.asked.keys()) if (!keys.has(key)) this.asked.delete(key);
    this.shown = new Map([...this.shown].filter(([key]) => keys.has(key)));
  }

  override updated() {
    // The first one is what the others are compared with.
    const wanted = new Set([this.rows[0], ...this.seen().map(({ row }) => row)]);
    for (const row of wanted) if (row && !(this.asked.has(row.key) && this.asked.get(row.key) === row.revision)) void this.fetch(row);
    for (const chat of this.renderRoot.querySelectorAll<LitElement>("t2t-chat")) void this.follow(chat);
  }

  private async fetch(row: Row): Promise<void> {
    this.asked.set(row.key, row.revision);
    const shown: Shown = {};
    try {
      shown.detail = await this.engine.rollout(row.at);
    } catch (error) {
      shown.failure = failureOf(error).message;
    }
    if (!this.asked.has(row.key)) return;
    const all = new Map(this.shown).set(row.key, shown);
    const first = this.rows[0] && all.get(this.rows[0].key)?.detail;
    for (const one of all.values()) {
      if (shown.detail === first) one.parting = undefined;
      if (first && one.detail && one.detail !== first) one.parting ??= partingOf(one.detail, first);
    }
    this.shown = all;
  }

  private get columnWidth(): number {
    return Math.max(Math.min(LEAST, this.width), Math.floor(this.width / Math.max(1, this.rows.length)));
  }

  private seen(): { row: Row; nth: number }[] {
    const { columnWidth, left, width } = this;
    const first = Math.max(0, Math.floor(left / columnWidth));
    const last = Math.min(this.rows.length, Math.ceil((left + width) / columnWidth));
    return this.rows.slice(first, last).map((row, at) => ({ row, nth: first + at }));
  }

  override render() {
    const { rows, columnWidth } = this;
    const first = rows[0];
    if (!first) return nothing;
    const rewards = rows.flatMap(({ reward }) => (reward === undefined ? [] : [reward]));
    const scale = { least: Math.min(...rewards), greatest: Math.max(...rewards) };
    return html`
      <div class="bar">
        <h2>${placeOf(first)}</h2>
        <span class="soft">${rows.length} ${rows.length === 1 ? "rollout" : "rollouts"} side by side</span>
        <label><input type="checkbox" .checked=${this.isTogether} @change=${() => (this.isTogether = !this.isTogether)} /> Scroll together</label>
        <button type="button" @click=${() => this.dispatchEvent(new SelectEvent({ siblings: false }))}>Close</button>
      </div>
      <div class="columns" tabindex="0" role="group" aria-label="Rollouts side by side" @scroll=${() => (this.left = this.scroller.scrollLeft)}>
        <div class="space" ${styles({ width: `${rows.length * columnWidth}px` })}>
          ${repeat(this.seen(), ({ row }) => row.key, ({ row, nth }) => this.column(row, nth, scale))}
        </div>
      </div>
    `;
  }

  private column(row: Row, nth: number, scale: Scale) {
    const { key, rolloutN, reward, tokens, turns, findings } = row;
    const isSelected = key === this.selection.rollout;
    return html`<section
      class="column ${isSelected ? "selected" : ""}"
      aria-label="Rollout ${rolloutN ?? nth}"
      ${styles({ left: `${nth * this.columnWidth}px`, width: `${this.columnWidth}px` })}
    >
      <header>
        <div class="line">
          <h3>Rollout ${rolloutN ?? nth}</h3>
          ${reward === undefined ? nothing : html`<span class="reward number" title="Reward">${rewardCell(reward, scale)}</span>`}
          <button type="button" @click=${() => this.dispatchEvent(new SelectEvent({ rollout: key, siblings: false }))}>Open</button>
        </div>
        <div class="line facts number">
          <span>${COUNT.format(tokens)} tokens</span><span>${turns} ${turns === 1 ? "turn" : "turns"}</span
          ><span>${findingsCell(findings)}</span>
        </div>
        <div class="parting">${this.parting(row, nth)}</div>
      </header>
      <div class="body" @t2t-select=${(event: SelectEvent) => this.openAt(event, key)}>${this.chat(row)}</div>
    </section>`;
  }

  private parting({ key }: Row, nth: number) {
    const shown = this.shown.get(key);
    if (!shown?.detail) return nothing;
    if (nth === 0) return html`<span class="faint">The others are compared with this one</span>`;
    if (!shown.parting || shown.parting === "unknown") return nothing;
    if (shown.parting === "same") return html`<span class="faint">Says the same as the first</span>`;
    const { before, after } = shown.parting;
    return html`<span>parts at </span
      ><span class="mono ellipsis" title="Where it begins to differ from the first rollout">…${plain(before.slice(-16))}<b>${plain(after)}</b></span>`;
  }

  private chat({ key }: Row) {
    const { detail, failure } = this.shown.get(key) ?? {};
    if (failure) return html`<p class="waiting" role="alert">${plain(failure, 400)}</p>`;
    if (!detail) return html`<p class="waiting">Reading…</p>`;
    return html`<t2t-chat compact .engine=${this.engine} .detail=${detail} .selection=${WHOLE}></t2t-chat>`;
  }

  /** What is chosen in a column is of its rollout. */
  private openAt(event: SelectEvent, rollout: string): void {
    event.stopPropagation();
    this.dispatchEvent(new SelectEvent({ ...event.change, rollout, siblings: false }));
  }

  /** Lets a new column scroll with the others. */
  private async follow(chat: LitElement): Promise<void> {
    if (this.scrollers.has(chat)) return;
    this.scrollers.set(chat, undefined);
    await chat.updateComplete;
    const scroller = chat.renderRoot.querySelector<HTMLElement>(".scroller");
    if (!scroller) return void this.scrollers.delete(chat);
    this.scrollers.set(chat, scroller);
    scroller.addEventListener("scroll", () => this.isTogether && this.scrollAll(scroller.scrollTop), { passive: true });
  }

  private scrollAll(top: number): void {
    for (const [chat, scroller] of this.scrollers) {
      if (!chat.isConnected) this.scrollers.delete(chat);
      // One that is shorter stays at its end.
      else if (scroller && Math.abs(scroller.scrollTop - Math.min(top, scroller.scrollHeight - scroller.clientHeight)) > 1) scroller.scrollTop = top;
    }
  }
}
