import type { SpanInput } from "token2text";
import { LitElement, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { perform } from "./actions.js";
import { fromHash, fromQuery, toHash } from "./address.js";
import { element } from "./element.js";
import { connectEngine, whenIdle } from "./engine/client.js";
import type { Engine, Progress, Row } from "./engine/contract.js";
import type { Help } from "./help/help.js";
import { actionOf } from "./keys.js";
import { fetchLater } from "./later.js";
import { areSiblings } from "./list/arrange.js";
import type { List } from "./list/list.js";
import { keptTheme, type Theme } from "./preferences.js";
import { rehearse } from "./rehearsal.js";
import type { SearchBox } from "./search/search-box.js";
import { SearchState } from "./search/search-state.js";
import { SelectEvent, type Selection } from "./selection.js";
import { Session, failureOf } from "./session.js";
import { collectorSources, tokenizerSources, traceSources, type TokenizerSource, type TraceSource } from "./sources/given.js";
import type { Problems } from "./sources/problems.js";
import type { Sources } from "./sources/sources.js";
import { base, controls, theme } from "./theme.js";
import type { ErrorDetail, LoadedDetail, SelectDetail, ViewerEventMap } from "./viewer-events.js";
import { viewerStyles } from "./viewer-styles.js";
import { view } from "./view.js";

/** Below so many pixels list and rollout are not beside each other. */
const NARROW = 720;

/**
 * Shows rollouts that were recorded as token ids: what the model read and wrote, turn by turn and token by token.
 *
 * As an element of a page it is given tokenizers and traces by its properties; with the attribute `page` it is the whole page, asks
 * for files, and keeps in the page's address what is looked at.
 */
@element("token2text-viewer")
export class Token2TextViewer extends LitElement {
  static override styles = [theme, base, controls, viewerStyles];

  /** A tokenizer.json or packed tokenizer for all models, or several by patterns of the names of models. */
  @property() tokenizer?: TokenizerSource | Record<string, TokenizerSource>;
  /** Traces in any format of the package. */
  @property() trace?: TraceSource | TraceSource[];
  /** Address of a collector with a store, whose traces are shown, and those that come. */
  @property() collector?: string | URL;
  /** Spans that the page has already, as `read` gives them; in place of `trace`. */
  @property({ attribute: false }) spans?: readonly SpanInput[];
  /** Whether it is the whole page. */
  @property({ type: Boolean }) page = false;
  /** `light` or `dark` in place of what the system prefers. */
  @property({ reflect: true }) theme?: "light" | "dark";

  /** @internal */ @state() selection: Selection = { tab: "chat" };
  /** @internal */ @state() isOpening = false;
  /** @internal */ @state() isDraggedOver = false;
  /** @internal */ @state() leftPane: "list" | "results" = "list";
  /** @internal */ @state() left?: number;
  /** @internal */ @state() width = 1200;
  /** @internal */ @state() saving?: Progress | { failure: string };
  /** @internal Changes whenever something in the session or the search does. */ @state() tick = 0;
  /** @internal */ engine!: Engine & { dispose(): void };
  /** @internal */ session!: Session;
  /** @internal */ search!: SearchState;

  /** @internal */ @query("t2t-list") list!: List | null;
  /** @internal */ @query("t2t-search") searchBox!: SearchBox | null;
  /** @internal */ @query("t2t-help") help!: Help;
  /** @internal */ @query("t2t-problems") problems!: Problems;
  /** @internal */ @query("t2t-sources") sources!: Sources | null;
  /** @internal */ @query("t2t-rollout-view") rolloutView!: HTMLElement | null;

  private readonly sizes = new ResizeObserver(([entry]) => (this.width = entry!.contentRect.width));
  /** Positions of the rollouts of a sample, as long as no row comes or goes. */
  private siblingsOf?: { at: number; rows: Row[]; count: number; growth: number; places: number[] };

  override connectedCallback() {
    super.connectedCallback();
    if (!this.engine) this.begin();
    this.sizes.observe(this);
    this.addEventListener("t2t-select", this.onSelect);
    for (const type of ["dragenter", "dragover", "dragleave", "drop"]) this.addEventListener(type, this.onDrag as EventListener);
    (this.page ? window : this).addEventListener("keydown", this.onKey as EventListener);
    if (this.page) window.addEventListener("popstate", this.onAddress);
    document.addEventListener("visibilitychange", this.onSight);
    this.onSight();
    window.addEventListener("online", this.onOnline);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes.disconnect();
    for (const target of [window, this]) target.removeEventListener("keydown", this.onKey as EventListener);
    window.removeEventListener("popstate", this.onAddress);
    document.removeEventListener("visibilitychange", this.onSight);
    window.removeEventListener("online", this.onOnline);
    // Frameworks move elements by taking them out for a moment.
    setTimeout(() => {
      if (this.isConnected) return;
      this.engine.dispose();
    }, 1000);
  }

  private begin(): void {
    const changed = () => this.tick++;
    this.engine = connectEngine();
    this.search = new SearchState(this.engine, changed);
    this.session = new Session(this.engine, {
      changed,
      failed: (detail) => this.say<ErrorDetail>("error", detail),
      loaded: (rollouts) => {
        this.say<LoadedDetail>("loaded", { rollouts });
        if (this.search.isActive) void this.search.run(this.row?.at);
      },
      ready: () => this.showWhenReady(),
      // What a link names may be in the traces that come.
      closing: () => this.row && (this.selection = { tab: this.selection.tab }),
      asks: () => (this.isOpening = true),
      replaced: () => this.search.forget(),
      grown: (rollouts) => void this.search.again(rollouts),
    });
    if (!this.page) return;
    const theme = keptTheme();
    if (theme !== "auto") this.theme = theme;
    this.selection = fromHash(location.hash);
    const { tokenizers, traces, collectors } = fromQuery(location.search);
    if (tokenizers.length > 0) void this.session.loadTokenizers(tokenizerSources(tokenizers));
    const sources = [...traceSources(traces), ...collectorSources(collectors)];
    if (sources.length > 0) void this.session.openTraces(sources, false);
  }

  override firstUpdated() {
    whenIdle(() => {
      void this.fetchLater();
      if (this.showsSources) rehearse(this);
    });
  }

  private async fetchLater(): Promise<void> {
    try {
      await fetchLater();
    } catch (error) {
      const detail = { code: "unreadable_source", message: `A part of the viewer could not be fetched: ${failureOf(error).message}` };
      this.session.problems.push({ source: "viewer", ...detail, count: 1 });
      this.say<ErrorDetail>("error", detail);
      this.tick++;
    }
  }

  override updated(changed: PropertyValues<this>) {
    if (changed.has("tokenizer") && this.tokenizer) void this.session.loadTokenizers(tokenizerSources(this.tokenizer));
    if (changed.has("trace") && this.trace) void this.session.openTraces(traceSources(this.trace), false);
    if (changed.has("collector") && this.collector) void this.session.openTraces(collectorSources([this.collector]), false);
    if (changed.has("spans") && this.spans) void this.session.openSpans(this.spans);
    if (this.page) document.title = this.row ? `${this.list?.nameOf(this.row) ?? "Rollout"} - token2text` : "token2text";
  }

  /** @internal The rollout that is looked at. */
  get row(): Row | undefined {
    const at = this.session.find(this.selection.rollout);
    return at === undefined ? undefined : this.session.rows[at];
  }

  /** @internal All rollouts of the sample of the one that is looked at. */
  get siblings(): Row[] {
    const { row, session } = this;
    if (!row) return [];
    const { rows } = session;
    const known = this.siblingsOf;
    if (known?.at === row.at && known.rows === rows && known.count === rows.length && known.growth === session.growth) return known.places.map((at) => rows[at]!);
    const found = rows.filter((other) => areSiblings(row, other)).sort((a, b) => (a.rolloutN ?? a.at) - (b.rolloutN ?? b.at));
    this.siblingsOf = { at: row.at, rows, count: rows.length, growth: session.growth, places: found.map(({ at }) => at) };
    return found;
  }

  /** @internal */
  get isNarrow(): boolean {
    return this.width < NARROW;
  }

  /** @internal Whether the first screen, or what "Open" shows, is seen in place of the rollouts. */
  get showsSources(): boolean {
    const hasOwn = [this.tokenizer, this.trace, this.collector, this.spans].some((given) => given !== undefined);
    return this.isOpening || (this.session.rows.length === 0 && !hasOwn);
  }

  /** What came is shown as soon as it can be read. */
  private showWhenReady(): void {
    const { rows, tokenizers, undecided } = this.session;
    if (rows.length > 0 && tokenizers.length > 0 && undecided.length === 0) this.isOpening = false;
    else if (rows.length > 0 && this.page) this.isOpening = true;
  }

  /** @internal Looks at something else; what `change` does not name stays, but a new rollout starts afresh. */
  select(change: Partial<Selection>): void {
    const { selection } = this;
    const isOther = "rollout" in change && change.rollout !== selection.rollout;
    const isOtherCall = "call" in change && change.call !== selection.call;
    const kept = isOther ? { tab: selection.tab, siblings: selection.siblings } : isOtherCall ? { ...selection, tokens: undefined } : selection;
    this.selection = { ...kept, ...change };
    this.writeAddress(isOther || this.selection.tab !== selection.tab || this.selection.siblings !== selection.siblings);
    if (isOther && this.search.isActive && !this.search.isEverywhere) void this.search.run(this.row?.at);
    if (isOther && this.isNarrow) this.followFocus();
    const { call, tokens } = this.selection;
    this.say<SelectDetail>("select", { rollout: this.row, call, tokens });
  }

  /** In one column the focus goes with what is seen. */
  private followFocus(): void {
    void this.updateComplete.then(() => {
      if (this.row) this.renderRoot.querySelector<HTMLElement>(".walk button")?.focus();
      else this.list?.focus();
    });
  }

  private writeAddress(isStep: boolean): void {
    if (!this.page) return;
    const address = toHash(this.selection) || location.pathname + location.search;
    if (isStep) history.pushState(null, "", address);
    else history.replaceState(null, "", address);
  }

  private readonly onAddress = () => (this.selection = fromHash(location.hash));

  private readonly onSight = () => this.session.live.see(document.visibilityState === "visible");

  private readonly onOnline = () => this.session.live.retry();

  private readonly onSelect = (event: Event) => {
    event.stopPropagation();
    this.select((event as SelectEvent).change);
  };

  private readonly onKey = (event: KeyboardEvent) => {
    const action = actionOf(event);
    if (action && perform(this, action)) event.preventDefault();
  };

  /** Files may be dropped anywhere. */
  private readonly onDrag = (event: DragEvent) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (event.type !== "dragleave") this.isDraggedOver = event.type !== "drop";
    else if (!this.contains(event.relatedTarget as Node | null)) this.isDraggedOver = false;
    if (event.type === "drop") void this.sources?.drop(event.dataTransfer);
  };

  private say<T>(name: keyof ViewerEventMap, detail: T): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }

  override render() {
    return view(this);
  }
}

export default Token2TextViewer;
export type { ErrorDetail, LoadedDetail, SelectDetail, Theme, TokenizerSource, TraceSource, ViewerEventMap };

export interface Token2TextViewer {
  addEventListener<K extends keyof ViewerEventMap>(
    type: K,
    listener: (this: Token2TextViewer, event: ViewerEventMap[K]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void;
}
declare global {
  interface HTMLElementTagNameMap {
    "token2text-viewer": Token2TextViewer;
  }
}
