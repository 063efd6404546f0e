import { LitElement, html, nothing, type PropertyValues } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "../element.js";
import type { Row } from "../engine/contract.js";
import { LineWindow } from "../line-window.js";
import { SelectEvent } from "../selection.js";
import { styles } from "../styles.js";
import { base, controls } from "../theme.js";
import { Arrivals } from "./arrivals.js";
import { arrange, type Arrangement, type Sort } from "./arrange.js";
import { cell } from "./cells.js";
import type { Column, Scale } from "./columns.js";
import { EVERYTHING, isEverything, type Filter } from "./filter.js";
import "./filter-bar.js";
import { groupLine, placeOf } from "./group-line.js";
import { cellStyles, listStyles } from "./list-styles.js";

/** Height of a line in pixels, as `--t2t-row` says. */
const LINE = 28;
/** Milliseconds between two arrangements while rows come. */
const PATIENCE = 400;

const COUNT = new Intl.NumberFormat("en");

/**
 * The rollouts as a table, of which only the lines that are seen exist. The focus stays on the grid; `aria-activedescendant` names
 * the line that keys are for.
 */
@element("t2t-list")
export class List extends LitElement {
  static override styles = [base, controls, cellStyles, listStyles];

  @property({ attribute: false }) rows: Row[] = [];
  /** Changes whenever rows do. */
  @property({ type: Number }) version = 0;
  @property({ attribute: false }) columns: Column[] = [];
  @property({ attribute: false }) scale: Scale = { least: 0, greatest: 0 };
  @property({ type: Boolean }) isWhole = false;
  @property({ attribute: false }) checked?: { done: number; total: number };
  /** Changes whenever rows come of a source that is followed. */
  @property({ type: Number }) growth = 0;
  /** Positions of rows that came so; those that were in sight are taken out. */
  @property({ attribute: false }) arrived = new Set<number>();
  /** Position of the row that is looked at. */
  @property({ type: Number }) selected?: number;

  @state() private filter: Filter = EVERYTHING;
  @state() private sort?: Sort;
  @state() private isGrouped = false;
  @state() private arrangement: Arrangement = { lines: new Int32Array(), groups: [], shown: 0 };
  /** Line that keys are for. */
  @state() private active = -1;

  @query(".grid") private grid!: HTMLElement;

  private running?: AbortController;
  private waiting?: ReturnType<typeof setTimeout>;
  private arranged = 0;
  /** Whether rows have changed since the arrangement that is under way began. */
  private isStale = false;
  /** Whether what is in sight is to stay where it is when rows are arranged next. */
  private isSteady = false;
  private readonly arrivals = new Arrivals(() => this.requestUpdate());
  private readonly window = new LineWindow(this, LINE, LINE);

  override updated() {
    this.window.watch(this.grid);
  }

  override disconnectedCallback() {
    super.disconnectedCallback();
    this.running?.abort();
    clearTimeout(this.waiting);
  }

  override willUpdate(changed: PropertyValues) {
    if (changed.has("growth") && this.isWhole) this.isSteady = true;
    if (changed.has("filter") || changed.has("sort") || changed.has("isGrouped")) void this.arrange();
    else if (changed.has("version") || changed.has("rows")) this.arrangeSoon();
    if (changed.has("selected") && this.selected !== undefined) this.reveal(this.selected);
  }

  override focus() {
    this.grid.focus();
  }

  /** Position of the row that is so many rows behind the selected one, as the list is sorted now. */
  neighbour(by: 1 | -1): number | undefined {
    return this.nextWhere(by, this.selected, () => true);
  }

  /** Position of the first row of the next or previous step, as the list is sorted now. */
  stepNeighbour(by: 1 | -1): number | undefined {
    const step = this.selected === undefined ? undefined : this.rows[this.selected]?.step;
    const next = this.nextWhere(by, this.selected, (row) => row.step !== step);
    if (by > 0 || next === undefined) return next;
    const before = this.nextWhere(-1, next, (row) => row.step !== this.rows[next]!.step);
    return before === undefined ? this.nextWhere(1, undefined, () => true) : this.nextWhere(1, before, () => true);
  }

  /** How many-th a row is among those that are shown; 0 if it is not. */
  placeOf(row: number | undefined): { at: number; of: number } {
    const { lines, shown, groups } = this.arrangement;
    const line = this.lineOf(row);
    if (groups.length === 0) return { at: line + 1, of: shown };
    return { at: lines.subarray(0, line + 1).reduce((count, at) => count + (at >= 0 ? 1 : 0), 0), of: shown };
  }

  /** Where a row is, in words. */
  nameOf(row: Row): string {
    return placeOf(row, true);
  }

  private nextWhere(by: 1 | -1, from: number | undefined, fits: (row: Row) => boolean): number | undefined {
    const { lines } = this.arrangement;
    const line = this.lineOf(from);
    for (let at = line < 0 ? (by > 0 ? 0 : lines.length - 1) : line + by; at >= 0 && at < lines.length; at += by) {
      const row = this.rows[lines[at]!];
      if (row && fits(row)) return lines[at];
    }
    return undefined;
  }

  private lineOf(at: number | undefined): number {
    return at === undefined ? -1 : this.arrangement.lines.indexOf(at);
  }

  private arrangeSoon(): void {
    if (this.running) this.isStale = true;
    if (this.running || this.waiting !== undefined) return;
    // The first rows are to be drawn with the list itself.
    if (this.arrangement.lines.length === 0) return void this.arrange();
    const wait = Math.max(0, PATIENCE - (performance.now() - this.arranged));
    this.waiting = setTimeout(() => void this.arrange(), wait);
  }

  private async arrange(): Promise<void> {
    clearTimeout(this.waiting);
    this.waiting = undefined;
    this.running?.abort();
    const running = (this.running = new AbortController());
    const { rows, filter, sort, isGrouped } = this;
    const before = this.arrangement.lines[this.active];
    this.isStale = false;
    const { isSteady } = this;
    this.isSteady = false;
    const arrangement = await arrange(rows, { filter, sort, isGrouped }, running.signal);
    if (!arrangement || running !== this.running) return;
    this.running = undefined;
    this.arranged = performance.now();
    const [anchor, line] = isSteady ? this.anchor() : [];
    this.arrangement = arrangement;
    this.arrivals.arrange(arrangement.lines, this.arrived);
    if (anchor !== undefined && this.lineOf(anchor) >= 0) this.window.move(this.lineOf(anchor) - line!);
    if (before !== undefined && before >= 0) this.active = arrangement.lines.indexOf(before);
    this.dispatchEvent(new Event("arranged"));
    if (this.isStale) this.arrangeSoon();
  }

  /** The first row in sight, and its line. */
  private anchor(): [at?: number, line?: number] {
    const { lines } = this.arrangement;
    const { first, last } = this.window.seen(lines.length);
    const line = lines.findIndex((at, line) => line >= first && line < last && at >= 0);
    return line < 0 ? [] : [lines[line], line];
  }

  private reveal(at: number): void {
    const line = this.lineOf(at);
    if (line < 0) return;
    this.active = line;
    void this.updateComplete.then(() => this.window.reveal(line));
  }

  override render() {
    const { columns } = this;
    this.arrivals.see(this.window.seen(this.arrangement.lines.length), this.arrived);
    const widths = columns.map(({ width, text }) => (text ? `minmax(${width}px, 1fr)` : `${width}px`)).join(" ");
    const least = columns.reduce((sum, { width }) => sum + width, 0);
    return html`
      <t2t-filter-bar
        .filter=${this.filter}
        .isGrouped=${this.isGrouped}
        .has=${new Set(columns.map(({ id }) => id))}
        @filter=${(event: CustomEvent<Filter>) => (this.filter = event.detail)}
        @group=${() => (this.isGrouped = !this.isGrouped)}
      ></t2t-filter-bar>
      <div
        class="grid"
        part="grid"
        role="grid"
        tabindex="0"
        aria-label="Rollouts"
        aria-rowcount=${this.arrangement.lines.length + 1}
        aria-colcount=${columns.length}
        aria-activedescendant=${this.active >= 0 ? `line-${this.active}` : nothing}
        aria-busy=${!this.isWhole}
        ${styles({ "--columns": widths, "--least": `${least}px` })}
        @scroll=${this.window.onScroll}
        @keydown=${this.onKey}
        @click=${this.onClick}
      >
        <div class="row head" role="row" aria-rowindex="1">${columns.map((column) => this.heading(column))}</div>
        ${this.body()}
      </div>
      ${this.unseen()} ${this.status()}
    `;
  }

  private heading(column: Column) {
    const isSorted = this.sort?.column.id === column.id;
    const direction = !isSorted ? "none" : this.sort!.descending ? "descending" : "ascending";
    return html`<div role="columnheader" aria-sort=${direction} class=${column.text ? "text" : "number"}>
      <button type="button" title=${column.title} @click=${() => this.sortBy(column)}>
        ${column.label}${isSorted ? html`<span aria-hidden="true">${this.sort!.descending ? "↓" : "↑"}</span>` : nothing}
      </button>
    </div>`;
  }

  /** One way, the other way, and as the traces have it. */
  private sortBy(column: Column): void {
    const { sort } = this;
    const first = column.greatestFirst ?? false;
    if (sort?.column.id !== column.id) this.sort = { column, descending: first };
    else this.sort = sort.descending === first ? { column, descending: !first } : undefined;
  }

  private body() {
    const { lines } = this.arrangement;
    if (lines.length === 0) return html`<div class="empty" role="row"><div role="gridcell">${this.nothingSeen()}</div></div>`;
    const { first, last } = this.window.range(lines.length);
    return html`<div class="space" role="presentation" ${styles({ height: `${lines.length * LINE}px` })}>
      <div class="window" role="rowgroup" ${styles({ transform: `translateY(${first * LINE}px)` })}>
        ${Array.from(lines.subarray(first, last), (at, nth) => this.line(at, first + nth))}
      </div>
    </div>`;
  }

  private nothingSeen() {
    if (!this.isWhole) return "Reading the traces…";
    if (this.rows.length === 0) return "No rollouts in these traces.";
    if (isEverything(this.filter)) return "";
    return html`<p>No rollout of ${COUNT.format(this.rows.length)} fits the filter.</p>
      <p><button type="button" @click=${() => (this.filter = EVERYTHING)}>Show all</button></p>`;
  }

  private line(at: number, line: number) {
    const active = line === this.active ? "active" : "";
    if (at < 0) return groupLine(this.rows, this.arrangement.groups[-1 - at]!, { line, active });
    const row = this.rows[at];
    if (!row) return nothing;
    return html`<div
      id="line-${line}"
      class="row ${active} ${this.arrivals.isFresh(at) ? "fresh" : ""}"
      role="row"
      aria-rowindex=${line + 2}
      aria-selected=${at === this.selected}
      data-line=${line}
    >
      ${this.columns.map((column) => {
        const content = cell(column, row, this.scale);
        return html`<div role="gridcell" class=${column.text ? "text" : "number"} title=${column.text ? content : nothing}>${content}</div>`;
      })}
    </div>`;
  }

  /** Rows that came out of sight. */
  private unseen() {
    const { above, below } = this.arrivals;
    if (above.length + below.length === 0) return nothing;
    const button = (lines: number[], arrow: string, line: number) =>
      lines.length === 0
        ? nothing
        : html`<button type="button" @click=${() => this.window.show(line)}>${arrow} ${COUNT.format(lines.length)} new</button>`;
    return html`<div class="unseen-rows">${button(above, "↑", Math.min(...above))}${button(below, "↓", Math.min(...below))}</div>`;
  }

  private status() {
    const { rows, arrangement, checked } = this;
    const total = COUNT.format(rows.length);
    const shown = arrangement.shown === rows.length ? "" : `${COUNT.format(arrangement.shown)} of `;
    const isChecking = checked !== undefined && checked.done < checked.total;
    // Who listens is not told of each row that comes.
    return html`<div class="status" role="status" aria-live=${this.growth > 0 && this.isWhole ? "off" : "polite"}>
      <span>${shown}${total} ${rows.length === 1 ? "rollout" : "rollouts"}${this.isWhole ? "" : " so far"}</span>
      ${isChecking
        ? html`<span class="end"
            >checked ${COUNT.format(checked.done)} of ${COUNT.format(checked.total)}
            <progress max=${checked.total} value=${checked.done} aria-label="Rollouts that were checked"></progress
          ></span>`
        : nothing}
    </div>`;
  }

  private onClick(event: MouseEvent): void {
    const target = event.target as Element;
    if (target.closest("button")) return;
    const line = target.closest<HTMLElement>("[data-line]")?.dataset.line;
    if (line !== undefined) this.go(Number(line));
  }

  private onKey(event: KeyboardEvent): void {
    if (event.target !== this.grid || event.ctrlKey || event.metaKey || event.altKey) return;
    const { page } = this.window;
    const { length } = this.arrangement.lines;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -length, End: length };
    const step = steps[event.key];
    if (step === undefined && event.key !== "Enter") return;
    event.preventDefault();
    const line = Math.min(length - 1, Math.max(0, this.active + (step ?? 0)));
    this.go(line, event.key === "Enter");
  }

  /** Makes a line the active one and opens its rollout; of a group only if it is asked for. */
  private go(line: number, isEnter = false): void {
    const at = this.arrangement.lines[line];
    if (at === undefined) return;
    this.active = line;
    this.window.reveal(line);
    const row = this.rows[at < 0 ? this.arrangement.groups[-1 - at]!.first : at];
    if (!row || (at < 0 && !isEnter)) return;
    this.dispatchEvent(new SelectEvent(at < 0 ? { rollout: row.key, siblings: true } : { rollout: row.key }));
  }
}
