import { html, nothing, type PropertyValues } from "lit";
import { state } from "lit/decorators.js";
import { element } from "../element.js";
import { callName, count, numberName } from "../rollout/calls.js";
import { styles } from "../styles.js";
import { base, controls } from "../theme.js";
import { CallLines } from "./call-lines.js";
import { lineStyles } from "./line-styles.js";
import type { Range } from "./ranges.js";
import { rowOf, RowKind, tokensOf } from "./rows.js";
import { safeStyles } from "./safe.js";
import { countBeyond, nextBeyond, scaleOf, type Scale } from "./scale.js";
import { scaleStyles } from "./scale-styles.js";
import "./token-bar.js";
import { TokenBytes } from "./token-bytes.js";
import "./token-card.js";
import { factsOf, spoken, type TokenFacts } from "./token-facts.js";
import { tokenSpans } from "./token-row.js";
import { keepSettings, lastSettings, type SettingsEvent, type TokenSettings } from "./token-settings.js";
import { tokenStyles } from "./token-styles.js";
import { virtualStyles } from "./virtual-styles.js";

/** So many tokens are drawn at once, at most, when each row is full: more take longer than a frame as one scrolls. */
const MOST_DRAWN = 640;

/** The tab Tokens: every token of a call, to be looked at one by one. */
@element("t2t-tokens")
export class Tokens extends CallLines {
  static override styles = [base, controls, safeStyles, virtualStyles, lineStyles, scaleStyles, tokenStyles];

  /** The more rows are in sight, the fewer tokens in each, so that the page stays light. */
  protected get width() {
    const rows = (this.clientHeight || 800) / 21;
    return { tokens: Math.round(Math.min(64, Math.max(24, MOST_DRAWN / rows))), characters: 240 };
  }

  @state() private settings: TokenSettings = lastSettings();
  /** Tokens whose card is shown. */
  @state() private hovered = -1;
  @state() private pinned = -1;
  @state() private isWalking = false;
  private place: Record<string, string> = {};
  private scales = new Map<string, Scale | undefined>();
  private beyond = 0;
  /** Where a selection began, and its moving end. */
  private anchor = -1;
  private cursor = -1;
  private isDragging = false;
  private readonly bytes = new TokenBytes(this, () => (this.detail ? { engine: this.engine, rollout: this.detail.at } : undefined));
  private seenBytes = 0;

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.hovered = -1;
    this.isWalking = this.isDragging = false;
  }

  protected override willUpdate(changed: PropertyValues): void {
    super.willUpdate(changed);
    if (changed.has("tokens")) {
      this.scales.clear();
      if (this.isOther) this.hovered = this.pinned = -1;
    }
    if (changed.has("selection") || changed.has("tokens")) this.takeSelection();
    if (changed.has("settings") || changed.has("tokens")) {
      const before = changed.get("settings") as TokenSettings | undefined;
      if (before && this.settings.ids !== before.ids) this.virtual.forget();
      this.beyond = this.settings.threshold && this.values ? countBeyond(this.settings.threshold, this.values) : 0;
    }
    // Rows do not change with a card.
    if ([...changed.keys()].every((name) => ["hovered", "isWalking", "pinned"].includes(String(name))) && changed.size > 0) this.version--;
    if (this.seenBytes !== this.bytes.version) this.version++;
    this.seenBytes = this.bytes.version;
  }

  /** A selection from elsewhere has its moving end at its start. */
  private takeSelection(): void {
    const selected = this.selected;
    if (!selected) this.anchor = this.cursor = -1;
    else if (Math.min(this.anchor, this.cursor) !== selected[0] || Math.max(this.anchor, this.cursor) !== selected[1] - 1) {
      this.cursor = selected[0];
      this.anchor = selected[1] - 1;
    }
  }

  private get values(): Float32Array | undefined {
    return this.tokens.numbers.find(({ name }) => name === this.settings.colour)?.values;
  }

  private get scale(): Scale | undefined {
    const { colour } = this.settings;
    const values = this.values;
    if (values && !this.scales.has(colour)) this.scales.set(colour, scaleOf(colour, values));
    return this.scales.get(colour);
  }

  protected override tokenRow(start: number, end: number) {
    return tokenSpans(
      {
        text: this.text,
        segments: this.segments,
        settings: this.settings,
        scale: this.scale,
        values: this.values,
        hits: this.callHits,
        longestHit: this.longestHit,
        hit: this.hits[this.hit],
        findings: this.callFindings,
        selected: this.selected && this.selected[1] - this.selected[0] > 1 ? this.selected : undefined,
        cursor: this.cursor,
        bytes: (id) => this.bytes.get(id),
      },
      start,
      end,
    );
  }

  protected override render() {
    const { text } = this;
    // What this call does not have it cannot be coloured by.
    const settings = this.values ? this.settings : { ...this.settings, colour: "segment" };
    const names = this.tokens.numbers.map(({ name }): [string, string] => [name, numberName(name)]);
    const toggle = (name: "boundaries" | "spaces" | "ids", label: string) =>
      html`<label><input type="checkbox" .checked=${settings[name]} @change=${(event: Event) => this.set({ [name]: (event.target as HTMLInputElement).checked })} />${label}</label>`;
    return html`
      <div class="tools">
        <t2t-token-bar .settings=${settings} .names=${names} .scale=${this.scale} .kinds=${[...new Set(this.segments.map(({ kind }) => kind))]} .beyond=${this.beyond}
          @t2t-settings=${(event: SettingsEvent) => this.set(event.change)} @beyond=${(event: CustomEvent<1 | -1>) => this.goBeyond(event.detail)}></t2t-token-bar>
        ${toggle("boundaries", "Boundaries")} ${toggle("spaces", "Spaces")} ${toggle("ids", "Ids")}
        <input class="jump" inputmode="numeric" placeholder="Token n" aria-label="Go to token, 0 to ${text.count - 1}" @keydown=${(event: KeyboardEvent) => this.jump(event)} />
        ${this.copyButtons()}
      </div>
      <div class="scroller ${settings.boundaries ? "boundaries" : ""} ${settings.ids ? "ids" : ""}" tabindex="0" role="group"
        aria-label="${count(text.count)} tokens of ${callName(this.detail.rollout.calls, this.tokens.call)}; arrow keys go from token to token"
        @keydown=${this.onKey} @copy=${this.onCopy} @pointerdown=${this.onDown} @pointermove=${this.onMove} @pointerup=${this.onUp} @pointercancel=${this.onUp}
        @pointerover=${this.onOver} @pointerleave=${() => (this.hovered = -1)} @blur=${() => (this.isWalking = false)} @scroll=${() => (this.hovered = -1)}>
        ${text.count === 0 ? html`<p class="empty faint">This call has no tokens.</p>` : this.scrollerRows()}
      </div>
      <p class="unseen" aria-live="polite">${this.isWalking && this.cursor >= 0 ? spoken(this.facts(this.cursor)) : ""}</p>
      ${this.card(this.hovered >= 0 ? this.hovered : this.isWalking ? this.cursor : -1)}
      ${this.pinned >= 0 ? html`<t2t-token-card pinned .pinned=${true} .facts=${this.facts(this.pinned)} @pin=${() => (this.pinned = -1)}></t2t-token-card>` : nothing}
    `;
  }

  private card(token: number) {
    if (token < 0 || token >= this.text.count || token === this.pinned) return nothing;
    // One that follows the mouse cannot be reached by it.
    return html`<t2t-token-card ${styles(this.place)} ?floating=${this.hovered >= 0} .facts=${this.facts(token)} @pin=${() => (this.pinned = token)}></t2t-token-card>`;
  }

  protected override updated(): void {
    // Where a token is drawn is known when it is.
    if (this.isWalking && this.hovered < 0 && this.cursor >= 0) {
      const before = JSON.stringify(this.place);
      this.findPlace(this.cursor);
      if (JSON.stringify(this.place) !== before) this.requestUpdate();
    }
  }

  private facts(token: number): TokenFacts {
    return factsOf(token, this.text, this.detail.rollout.calls, this.segments, this.bytes.get(this.tokens.ids[token]!));
  }

  private set(change: Partial<TokenSettings>): void {
    this.settings = keepSettings({ ...this.settings, ...change });
  }

  private goBeyond(step: 1 | -1): void {
    const { threshold } = this.settings;
    if (!threshold || !this.values) return;
    const found = nextBeyond(threshold, this.values, this.cursor >= 0 ? this.cursor : step === 1 ? -1 : 0, step);
    if (found >= 0) this.walkTo(found, false);
  }

  private jump(event: KeyboardEvent): void {
    event.stopPropagation();
    if (event.key !== "Enter") return;
    const token = Number.parseInt((event.target as HTMLInputElement).value.replaceAll(/[,\s]/g, ""), 10);
    if (Number.isFinite(token)) this.walkTo(token, false);
  }

  private walkTo(token: number, extend: boolean): void {
    this.cursor = Math.min(Math.max(token, 0), this.text.count - 1);
    if (!extend || this.anchor < 0) this.anchor = this.cursor;
    this.isWalking = true;
    this.hovered = -1;
    this.virtual.scrollTo(rowOf(this.rows, this.cursor), this.virtual.isSeen(rowOf(this.rows, this.cursor)) ? "auto" : "center");
    this.select([Math.min(this.anchor, this.cursor), Math.max(this.anchor, this.cursor) + 1] as Range);
  }

  /** The token in the row above or below that stands as far from its beginning. */
  private inRow(by: 1 | -1): number {
    const row = rowOf(this.rows, this.cursor);
    const next = Math.min(Math.max(row + by, 0), this.rows.starts.length - 1);
    const [start, end] = tokensOf(this.rows, next);
    return Math.min(start + this.cursor - tokensOf(this.rows, row)[0], end - 1);
  }

  /** The first row in sight that is not folded. */
  private firstRow(): number {
    const { kinds } = this.rows;
    const top = this.virtual.top;
    const found = kinds.indexOf(RowKind.tokens, top);
    return found === -1 ? top : found;
  }

  private onKey(event: KeyboardEvent): void {
    if (event.altKey || this.text.count === 0) return;
    const isMore = event.ctrlKey || event.metaKey;
    const at = this.cursor < 0 ? tokensOf(this.rows, this.firstRow())[0] : this.cursor;
    const row = rowOf(this.rows, at);
    const [start, end] = tokensOf(this.rows, row);
    // What is drawn as one is walked over as one.
    const isRun = this.rows.kinds[row] === RowKind.run;
    const steps: Record<string, () => number> = {
      ArrowRight: () => (this.cursor < 0 ? at : isRun ? end : at + 1),
      ArrowLeft: () => (isRun ? start : at) - 1,
      ArrowDown: () => (this.cursor < 0 ? at : this.inRow(1)),
      ArrowUp: () => (this.cursor < 0 ? at : this.inRow(-1)),
      Home: () => (isMore ? 0 : start),
      End: () => (isMore ? this.text.count - 1 : end - 1),
    };
    const keys: Record<string, () => void> = {
      t: () => this.goBeyond(1),
      T: () => this.goBeyond(-1),
      i: () => (this.pinned = this.hovered >= 0 ? this.hovered : this.cursor),
      Escape: () => this.select(undefined),
    };
    const step = steps[event.key];
    const key = isMore ? undefined : keys[event.key];
    // Elsewhere these keys may mean something else: they are taken only where they do something here.
    const isMeant = event.key === "Escape" ? this.selected !== undefined : event.key === "i" ? this.cursor >= 0 || this.hovered >= 0 : this.settings.threshold !== undefined;
    if (step) this.walkTo(step(), event.shiftKey);
    else if (key && isMeant) key();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private onCopy(event: ClipboardEvent): void {
    const selected = this.selected;
    if (!selected) return;
    event.clipboardData?.setData("text/plain", this.text.text(...selected));
    event.preventDefault();
  }

  private tokenOf(event: Event): number {
    const element = (event.target as Element).closest<HTMLElement>("[data-t]");
    return element ? Number(element.dataset.t) : -1;
  }

  private onDown(event: PointerEvent): void {
    const token = this.tokenOf(event);
    if (token < 0 || event.button !== 0) return;
    this.isDragging = event.pointerType === "mouse";
    this.cursor = token;
    if (!event.shiftKey || this.anchor < 0) this.anchor = token;
    this.select([Math.min(this.anchor, token), Math.max(this.anchor, token) + 1] as Range);
    this.isWalking = event.pointerType !== "mouse";
  }

  private onMove(event: PointerEvent): void {
    if (!this.isDragging) return;
    const token = this.tokenOf(event);
    if (token < 0 || token === this.cursor) return;
    this.cursor = token;
    this.hovered = -1;
    this.select([Math.min(this.anchor, token), Math.max(this.anchor, token) + 1] as Range);
  }

  private onUp(): void {
    this.isDragging = false;
  }

  private onOver(event: PointerEvent): void {
    if (event.pointerType !== "mouse" || this.isDragging) return;
    const token = this.tokenOf(event);
    if (token >= 0) this.findPlace(token);
    this.hovered = token;
  }

  /** Puts the card below the token, or above it in the lower half. */
  private findPlace(token: number): void {
    const element = this.renderRoot.querySelector(`[data-t="${token}"]`);
    if (!element) return;
    const box = this.getBoundingClientRect();
    const rect = element.getClientRects()[0] ?? element.getBoundingClientRect();
    const left = `${Math.round(Math.max(4, Math.min(rect.left - box.left, box.width - 262)))}px`;
    this.place = rect.top - box.top < box.height / 2 ? { left, top: `${Math.round(rect.bottom - box.top + 4)}px` } : { left, bottom: `${Math.round(box.bottom - rect.top + 4)}px` };
  }
}
