/** What the tabs Text and Tokens share: the tokens of a call as rows in sight, folds, and what is selected kept in sight. */
import { html, LitElement, type PropertyValues, type TemplateResult } from "lit";
import { property, state } from "lit/decorators.js";
import { guard } from "lit/directives/guard.js";
import type { CallTokens, Engine, Finding, Hit, RolloutDetail, Segment } from "../engine/contract.js";
import { count, segmentsOf, tokenCount, type Call } from "../rollout/calls.js";
import { SelectEvent, type MoveEvent, type Selection } from "../selection.js";
import { copyText, toClipboard, type CopyKind } from "./copy.js";
import { segmentAt, type Range } from "./ranges.js";
import { buildRows, likelyHeights, repeatedRuns, rowOf, RowKind, tokensOf, type Rows } from "./rows.js";
import { safe } from "./safe.js";
import { TokenText } from "./token-text.js";
import { VirtualRows } from "./virtual.js";

const COPIED_FOR = 1600;

export abstract class CallLines extends LitElement {
  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) detail!: RolloutDetail;
  @property({ attribute: false }) tokens!: CallTokens;
  @property({ attribute: false }) selection!: Selection;
  /** Of the rollout. */
  @property({ attribute: false }) hits: Hit[] = [];
  @property({ type: Number }) hit = -1;
  /** Of the rollout, those of re-tokenization too. */
  @property({ attribute: false }) findings: Finding[] = [];
  @state() private copied = "";

  protected text!: TokenText;
  protected rows: Rows = { starts: new Uint32Array(), kinds: new Uint8Array(), count: 0 };
  private callSegments: readonly Segment[] = [];
  private runs: Range[] = [];
  private open = new Set<number>();
  private isCommonOpen = false;
  private commonBefore = 0;
  /** Whether the tokens that came are of another call, and not once more those that were there. */
  protected isOther = false;
  private heights: Uint16Array = new Uint16Array();
  protected callHits: Hit[] = [];
  protected longestHit = 0;
  protected callFindings: (Finding & { tokens: Range })[] = [];
  /** Counts what makes rows look different. */
  protected version = 0;

  protected readonly virtual = new VirtualRows(this, {
    scroller: ".scroller",
    count: () => this.rows.starts.length,
    height: (row) => this.heights[row]!,
    beyond: 3,
  });

  /** Most tokens and characters of a row. */
  protected abstract get width(): { tokens: number; characters: number };
  protected abstract tokenRow(start: number, end: number): unknown;

  protected get call(): Call {
    return this.detail.rollout.calls[this.tokens.call]!;
  }

  protected get segments(): readonly Segment[] {
    return this.callSegments;
  }

  protected get selected(): Range | undefined {
    const { tokens } = this.selection;
    return tokens && tokens[0] < this.text.count ? [tokens[0], Math.min(tokens[1], this.text.count)] : undefined;
  }

  /** Lays the rows out again when there is clearly more or less room for them. */
  private readonly resized = new ResizeObserver(() => {
    if (!this.text || this.clientWidth === 0 || this.room() === this.roomBefore) return;
    this.layOut();
    if (this.selection.tokens) this.follow(this.selection.tokens, true);
    this.requestUpdate();
  });
  private roomBefore = "";

  private room(): string {
    return `${Math.round(this.clientWidth / 60)}×${Math.round(this.clientHeight / 120)}`;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.resized.observe(this);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.resized.disconnect();
  }

  protected override willUpdate(changed: PropertyValues): void {
    if (changed.size > 0) this.version++;
    const isNew = changed.has("tokens");
    this.isOther = isNew && !isSame(changed.get("tokens") as CallTokens | undefined, this.tokens);
    if (isNew) {
      this.text = new TokenText(this.tokens);
      this.callSegments = segmentsOf(this.detail.rollout.calls, this.tokens.call);
      // Without a tokenizer there is only what the trace says.
      if (this.callSegments.length === 0) this.callSegments = [{ kind: "prompt", tokens: [0, this.call.prompt] }, { kind: "model", tokens: [this.call.prompt, this.text.count] }];
      this.runs = repeatedRuns(this.tokens.ids, this.segments);
      if (this.isOther) {
        this.open = new Set();
        this.isCommonOpen = false;
      }
      if (this.isOther || this.commonBefore !== this.call.common) this.layOut();
    }
    if (isNew || changed.has("hits")) {
      this.callHits = this.hits.filter(({ call }) => call === this.tokens.call);
      this.longestHit = this.callHits.reduce((longest, { tokens }) => Math.max(longest, tokens[1] - tokens[0]), 0);
    }
    if (isNew || changed.has("findings")) {
      this.callFindings = this.findings.filter((finding): finding is Finding & { tokens: Range } => finding.call === this.tokens.call && finding.tokens !== undefined);
    }
    if (this.isOther || changed.has("selection")) this.follow(this.selection.tokens, this.isOther);
    if (changed.has("hit") && this.hit >= 0 && this.hits[this.hit]?.call === this.tokens.call) this.follow(this.hits[this.hit]!.tokens, false);
  }

  private layOut(): void {
    this.roomBefore = this.room();
    const { tokens, characters } = this.width;
    this.commonBefore = this.call.common;
    const common = this.isCommonOpen || this.call.parent === undefined ? 0 : this.call.common;
    this.rows = buildRows(this.tokens, this.runs, { width: tokens, characters, common, open: this.open });
    this.heights = likelyHeights(this.rows, this.tokens, this.clientWidth || 700);
    this.version++;
    this.virtual.forget();
  }

  /** Brings tokens into sight, and unfolds what is common if they stand in it. */
  private follow(tokens: Range | undefined, isNew: boolean): void {
    if (!tokens) {
      if (isNew) this.virtual.scrollTo(0, "start");
      return;
    }
    if (!this.isCommonOpen && tokens[0] < this.call.common && this.call.parent !== undefined) {
      this.isCommonOpen = true;
      this.layOut();
    }
    const row = rowOf(this.rows, Math.min(tokens[0], this.text.count - 1));
    if (isNew || !this.virtual.isSeen(row)) this.virtual.scrollTo(row);
  }

  protected select(tokens: Range | undefined): void {
    this.dispatchEvent(new SelectEvent({ call: this.tokens.call, ...(tokens ? { tokens } : { tokens: undefined }) }));
  }

  /** One line on or back, or to an end. */
  move(to: MoveEvent["to"]): void {
    const last = this.rows.starts.length - 1;
    const row = { next: this.virtual.top + 1, previous: this.virtual.top - 1, first: 0, last }[to];
    this.virtual.scrollTo(Math.min(Math.max(row, 0), last), to === "last" ? "end" : "start");
  }

  private fold(start: number, kind: number): void {
    if (kind === RowKind.common) this.isCommonOpen = !this.isCommonOpen;
    else if (!this.open.delete(start)) this.open.add(start);
    this.layOut();
    this.requestUpdate();
  }

  protected async copy(kind: CopyKind): Promise<void> {
    const range = this.selected ?? [0, this.text.count];
    const isDone = await toClipboard(await copyText(this.text, this.segments, range, kind));
    this.copied = isDone ? `Copied ${tokenCount(range[1] - range[0])} as ${kind === "json" ? "JSON" : kind}` : "The browser does not let this page copy";
    setTimeout(() => (this.copied = ""), COPIED_FOR);
  }

  protected copyButtons() {
    const what = this.selected ? "the selected tokens" : "all tokens";
    return html`<span class="copy">
      <span class="faint" role="status">${this.copied || "Copy"}</span>
      ${(["text", "ids", "json"] as const).map((kind) => html`<button class="small" title="Copy ${what}" @click=${() => this.copy(kind)}>${kind === "json" ? "JSON" : kind === "ids" ? "ids" : "text"}</button>`)}
    </span>`;
  }

  protected scrollerRows(): TemplateResult {
    return this.virtual.rows((row) => {
      const [start, end] = tokensOf(this.rows, row);
      const kind = this.rows.kinds[row]!;
      return html`<div class="row" data-row=${row}>${guard([this.version, start, end], () => this.rowBody(start, end, kind))}</div>`;
    });
  }

  private rowBody(start: number, end: number, kind: number) {
    const segment = segmentAt(this.segments, start)?.kind ?? "";
    const isOpen = (kind === RowKind.tokens && this.open.has(start)) || (start === 0 && this.isCommonOpen);
    return html`
      <span class="at number" aria-hidden="true">${count(start)}</span>
      <span class="bar ${segment}"></span>
      ${kind === RowKind.tokens
        ? html`<span class="line">${isOpen ? html`<button class="fold" aria-expanded="true" @click=${() => this.fold(start, start === 0 && this.isCommonOpen ? RowKind.common : RowKind.run)}>fold</button>` : ""}${this.tokenRow(start, end)}</span>`
        : html`<span class="line"><button class="fold wide ${this.selected && this.selected[0] < end && this.selected[1] > start ? "selected" : ""}" aria-expanded="false" @click=${() => this.fold(start, kind)}>${this.foldLabel(start, end, kind)}</button></span>`}
    `;
  }

  private foldLabel(start: number, end: number, kind: number) {
    if (kind === RowKind.common) return html`${tokenCount(end)} in common with the call before`;
    return html`<span class="mono">${safe(this.text.text(start).slice(0, 60), { marks: "all", chips: 4 })}</span> × ${count(end - start)}`;
  }
}

function isSame(one: CallTokens | undefined, { ids, text }: CallTokens): boolean {
  return one?.text === text && one.ids.length === ids.length && ids.every((id, at) => id === one.ids[at]);
}
