import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { element } from "../element.js";
import { guard } from "lit/directives/guard.js";
import type { CallTokens, Engine, Hit, RolloutDetail } from "../engine/contract.js";
import { SelectEvent, type MoveEvent, type Selection } from "../selection.js";
import { overlap } from "../text/ranges.js";
import { safeStyles } from "../text/safe.js";
import { TokenText } from "../text/token-text.js";
import { VirtualRows } from "../text/virtual.js";
import { virtualStyles } from "../text/virtual-styles.js";
import { base, controls } from "../theme.js";
import { callKey, callName, count, tokenCount, usualCall } from "./calls.js";
import { chatItems, itemAt, type ChatItem } from "./chat-items.js";
import { long, messageStyles, messageTemplate } from "./chat-message.js";
import "./id-diff.js";
import { JOINS } from "./joins.js";

/** Whose colours a message has. */
const COLOURS: Record<string, string> = { assistant: "model", model: "model", tool: "observation", ipython: "observation", user: "prompt", system: "inserted", developer: "inserted" };
/** Height of an item before it was drawn. */
const HEIGHTS: Record<ChatItem["kind"], number> = { turn: 38, common: 30, divergence: 150, message: 120, segment: 120, nothing: 30 };

/** The conversation up to a call: what is new in each turn, and where a turn does not go on from the one before. */
@element("t2t-chat")
export class Chat extends LitElement {
  static override styles = [base, controls, safeStyles, virtualStyles, messageStyles, css`
    :host {
      display: flex;
      flex-direction: column;
      min-height: 0;
    }
    .scroller {
      flex: 1;
      min-height: 120px;
    }
    .item {
      padding: 0 14px 10px;
      max-width: 980px;
    }
    .item.turn {
      display: flex;
      flex-wrap: wrap;
      align-items: baseline;
      gap: 2px 8px;
      padding-top: 10px;
      padding-bottom: 6px;
    }
    .turn h3 {
      text-transform: capitalize;
    }
    .turn.current h3 {
      color: var(--t2t-accent-ink);
    }
    .item.common {
      padding-bottom: 8px;
    }
    .message {
      padding: 6px 12px 8px;
      border-inline-start: 3px solid var(--line, var(--t2t-border-strong));
      border-radius: 0 var(--t2t-radius) var(--t2t-radius) 0;
      background: color-mix(in srgb, var(--bg, var(--t2t-sunken)) 45%, var(--t2t-bg));
    }
    .old .message {
      opacity: 0.8;
      margin-inline-start: 14px;
    }
    .message.selected {
      outline: 2px solid var(--t2t-accent);
      outline-offset: -1px;
    }
    .diverges {
      padding: 8px 12px;
      border: 1px solid var(--line, var(--t2t-border-strong));
      border-radius: var(--t2t-radius);
      background: var(--bg, var(--t2t-sunken));
    }
    .diverges p {
      display: flex;
      flex-wrap: wrap;
      align-items: baseline;
      gap: 2px 8px;
      margin-bottom: 6px;
    }
    .note {
      padding: 6px 14px;
      border-bottom: 1px solid var(--t2t-border);
      font-size: var(--t2t-size-small);
      color: var(--t2t-ink-soft);
    }
    :host([compact]) .item {
      padding-inline: 8px;
      padding-bottom: 6px;
    }
    :host([compact]) .message {
      padding: 4px 8px 6px;
    }
    @container view (max-width: 520px) {
      .item {
        padding-inline: 8px;
      }
    }
  `];

  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) detail!: RolloutDetail;
  @property({ attribute: false }) selection!: Selection;
  @property({ attribute: false }) hits: Hit[] = [];
  @property({ type: Number }) hit = -1;
  /** As one of several beside each other. */
  @property({ type: Boolean, reflect: true }) compact = false;

  @state() private open: ReadonlySet<string> = new Set();
  @state() private grown: ReadonlyMap<string, number> = new Map();
  @state() private common: ReadonlySet<string> = new Set();
  /** Of calls without messages, by their keys. */
  @state() private texts: ReadonlyMap<string, TokenText> = new Map();
  private asked = new Set<string>();
  private items: ChatItem[] = [];
  private version = 0;
  private readonly virtual = new VirtualRows(this, {
    scroller: ".scroller",
    count: () => this.items.length,
    height: (row) => HEIGHTS[this.items[row]!.kind],
    key: (row) => this.items[row]!.key,
    beyond: 3,
  });

  /** The call up to which it goes. */
  private get call(): number {
    const { calls } = this.detail.rollout;
    const { call } = this.selection;
    return call !== undefined && calls[call] ? call : usualCall(calls);
  }

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (changed.size > 0) this.version++;
    const isGrown = (changed.get("detail") as RolloutDetail | undefined)?.at === this.detail.at;
    const isOther = changed.has("detail") && !isGrown;
    if (changed.has("detail")) this.asked.clear();
    if (isOther) {
      this.open = new Set();
      this.grown = new Map();
      this.common = new Set();
      this.texts = new Map();
    }
    if (["detail", "selection", "common"].some((name) => changed.has(name))) {
      this.items = chatItems(this.detail, this.call, this.common);
    }
    const before = changed.get("selection") as Selection | undefined;
    // The same call may have another position in a rollout that has grown.
    const isElsewhere = changed.has("selection") && !isGrown && (before?.call !== this.selection.call || before?.tokens !== this.selection.tokens);
    if (isOther || isElsewhere) this.follow(isOther);
    const hit = this.hits[this.hit];
    if (changed.has("hit") && hit) this.show(itemAt(this.detail, this.items, hit.call, hit.tokens));
  }

  /** Brings what is selected into sight: its message, or where its turn begins. */
  private follow(isNew: boolean): void {
    const { tokens } = this.selection;
    if (tokens) this.show(itemAt(this.detail, this.items, this.call, tokens));
    else if (this.selection.call !== undefined) this.show(this.items.findLastIndex(({ kind }) => kind === "turn"), "start");
    else if (isNew) this.virtual.scrollTo(0, "start");
  }

  private show(item: number, align: "center" | "start" = "center"): void {
    if (item >= 0 && !(align === "center" && this.virtual.isSeen(item))) this.virtual.scrollTo(item, align);
  }

  /** One turn on or back, or to the first or last one. */
  move(to: MoveEvent["to"]): void {
    const turns = this.items.flatMap(({ kind }, at) => (kind === "turn" ? [at] : []));
    const at = turns.findLastIndex((turn) => turn <= this.virtual.top);
    const next = turns[{ next: Math.min(at + 1, turns.length - 1), previous: Math.max(at - 1, 0), first: 0, last: turns.length - 1 }[to]];
    if (next !== undefined) this.virtual.scrollTo(next, "start");
  }

  protected override render() {
    const { rollout } = this.detail;
    return html`
      ${rollout.template === undefined ? html`<p class="note">${rollout.tokenizer === undefined ? "No tokenizer is open for this model, so there is no text." : "No chat template is known for this tokenizer: the text stands here by who wrote it."}</p>` : nothing}
      <div class="scroller" tabindex="0" role="group" aria-label="Conversation up to ${rollout.calls.length > 0 ? callName(rollout.calls, this.call) : "its end"}">
        ${this.items.length === 0 ? html`<p class="note">This rollout has no calls.</p>` : this.virtual.rows((row) => html`<div class="item ${this.nameOf(this.items[row]!)}" data-row=${row}>${guard([this.version, this.items[row]], () => this.body(this.items[row]!))}</div>`)}
      </div>
    `;
  }

  private nameOf(item: ChatItem): string {
    if (item.kind === "message") return item.isOld ? "old" : "";
    return item.kind === "turn" && item.call === this.call ? "turn current" : item.kind;
  }

  private body(item: ChatItem) {
    switch (item.kind) {
      case "turn":
        return this.turn(item.call);
      case "common":
        return html`<button class="fold" aria-expanded=${String(item.isOpen)} @click=${() => (this.common = toggled(this.common, item.key))}>
          <span class="number">${tokenCount(this.detail.rollout.calls[item.call]!.common)} in common with ${this.parentName(item.call)}</span>
        </button>`;
      case "divergence":
        return this.divergence(item.call);
      case "message":
        return this.message(item);
      case "segment":
        return this.segment(item);
      case "nothing":
        return html`<p class="faint">${this.detail.rollout.tokenizer === undefined ? "Its ids are in Tokens." : "Nothing is new in it."}</p>`;
    }
  }

  private turn(call: number) {
    const { calls } = this.detail.rollout;
    const { join, continued, segments, prompt } = calls[call]!;
    const how = join && JOINS[join];
    const fresh = (segments.at(-1)?.tokens[1] ?? prompt) - continued;
    const isKnown = this.detail.rollout.tokenizer !== undefined;
    return html`<h3>${callName(calls, call)}</h3>
      ${how ? (how.tag === "extends" ? html`<span class="faint">extends ${this.parentName(call)}</span>` : html`<span class="chip ${how.level}">${how.tag}</span>`) : nothing}
      ${isKnown ? html`<span class="faint number">${join ? "+" : ""}${tokenCount(fresh)}</span>` : nothing}`;
  }

  private parentName(call: number): string {
    const { calls } = this.detail.rollout;
    const { parent } = calls[call]!;
    return parent !== undefined && calls[parent] ? callName(calls, parent) : "the call before";
  }

  private divergence(call: number) {
    const { divergence, join } = this.detail.rollout.calls[call]!;
    const { at, before, after } = divergence!;
    const how = JOINS[join ?? "edited"];
    const look = () => this.select(call, [at, at + Math.max(1, after.ids.length)], "tokens");
    return html`<div class="diverges ${how.level}">
      <p><strong>${how.says} ${this.parentName(call)}.</strong> <span>They part at token <button class="link number" @click=${look}>${count(at)}</button>.</span></p>
      <t2t-id-diff .engine=${this.engine} .rollout=${this.detail.at} .one=${before} .other=${after} .labels=${[this.parentName(call), callName(this.detail.rollout.calls, call)]}></t2t-id-diff>
    </div>`;
  }

  private message(item: Extract<ChatItem, { kind: "message" }>) {
    const { message, of, key, isOld } = item;
    const hits = this.hits.filter(({ call, tokens }) => call === of && overlap(tokens, message.tokens));
    const hit = this.hits[this.hit];
    return html`<div class="message ${COLOURS[message.role ?? ""] ?? ""} ${!isOld && this.isSelected(of, message.tokens) ? "selected" : ""}">
      ${messageTemplate({ key, message, hits, now: hit && !isOld ? hits.indexOf(hit) : -1, open: this.open, grown: this.grown, toggle: (part) => (this.open = toggled(this.open, part)), grow: this.grow, look: () => this.select(of, message.tokens, "tokens") })}
    </div>`;
  }

  /** Tokens of the call that is looked at, or of one before that it has them from. */
  private isSelected(of: number, range: [number, number]): boolean {
    const { tokens } = this.selection;
    if (!tokens || !overlap(range, tokens)) return false;
    return of === this.call || tokens[0] < this.detail.rollout.calls[this.call]!.common;
  }

  private segment({ call, segment, key }: Extract<ChatItem, { kind: "segment" }>) {
    const { kind, tokens } = segment;
    const text = this.textOf(call);
    return html`<div class="message ${kind} ${this.isSelected(call, tokens) ? "selected" : ""}">
      <div class="message-head"><span class="role">${kind}</span><button class="link number range" title="Show these tokens" @click=${() => this.select(call, tokens, "tokens")}>${count(tokens[0])}–${count(tokens[1])}</button></div>
      <div class="content mono">${text ? long({ grown: this.grown, grow: this.grow, hits: [], now: -1, seen: 0 }, key, text.text(...tokens)) : html`<span class="faint">…</span>`}</div>
    </div>`;
  }

  private textOf(call: number): TokenText | undefined {
    const { detail } = this;
    const key = callKey(detail.rollout.calls[call]!);
    if (!this.asked.has(key)) {
      this.asked.add(key);
      this.engine.tokens(detail.at, call).then(
        (tokens: CallTokens) => {
          if (detail === this.detail) this.texts = new Map(this.texts).set(key, new TokenText(tokens));
        },
        () => {},
      );
    }
    return this.texts.get(key);
  }

  private grow = (key: string, characters: number): void => {
    this.grown = new Map(this.grown).set(key, characters);
  };

  private select(call: number, tokens: [number, number], tab: Selection["tab"]): void {
    this.dispatchEvent(new SelectEvent({ call, tokens, ...(this.compact ? {} : { tab }) }));
  }
}

function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  const changed = new Set(set);
  if (!changed.delete(item)) changed.add(item);
  return changed;
}
