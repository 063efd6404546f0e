/** The rows of a long list that are in sight: what virtual-core knows of them, for an element of lit. */
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer, type VirtualItem } from "@tanstack/virtual-core";
import { html, type LitElement, type ReactiveController, type TemplateResult } from "lit";
import { repeat } from "lit/directives/repeat.js";
import { Pace } from "../pace.js";
import { styles } from "../styles.js";

export interface VirtualOptions {
  /** Selector of the element that scrolls, in the shadow root of the host. */
  scroller: string;
  count: () => number;
  /** Height of a row before it was drawn, in pixels. */
  height: (row: number) => number;
  /** Rows with the same key are the same, whatever their position. Without it, `forget` what is known when rows change. */
  key?: (row: number) => number | string;
  /** Rows that are drawn beyond both edges. */
  beyond?: number;
}

/** Draws with `rows(template)` inside of the scroller. Rows are measured, so they may be as high as they like. */
export class VirtualRows implements ReactiveController {
  private virtualizer: Virtualizer<HTMLElement, HTMLElement> | undefined;
  private cleanUp: (() => void) | undefined;
  private wanted: { row: number; align: "center" | "auto" | "start" | "end" } | undefined;

  /** Where it was when it was taken out of the page. */
  private left = 0;
  /** Whether rows may be drawn: to lay out all of them and to draw some takes long enough for two tasks. */
  private isLaidOut = false;

  /** Functions that stay the same: with another one virtual-core measures all rows anew. */
  private readonly steady;

  constructor(
    private readonly host: LitElement,
    private readonly options: VirtualOptions,
  ) {
    const { height, key, beyond = 6 } = options;
    this.steady = {
      getScrollElement: () => this.scroller,
      estimateSize: height,
      ...(key && { getItemKey: key }),
      overscan: beyond,
      indexAttribute: "data-row",
      scrollToFn: elementScroll,
      observeElementRect,
      observeElementOffset,
      onChange: () => host.requestUpdate(),
    };
    host.addController(this);
  }

  hostDisconnected(): void {
    this.left = this.virtualizer?.scrollOffset ?? 0;
    this.cleanUp?.();
    this.cleanUp = undefined;
  }

  hostConnected(): void {
    this.host.requestUpdate();
  }

  hostUpdated(): void {
    const scroller = this.scroller;
    if (!scroller) return;
    const isNew = !this.virtualizer;
    this.virtualizer ??= new Virtualizer(this.settings());
    this.cleanUp ??= this.virtualizer._didMount();
    this.virtualizer._willUpdate();
    for (const row of scroller.querySelectorAll<HTMLElement>(":scope > .rows > [data-row]")) this.virtualizer.measureElement(row);
    // Those that are gone.
    this.virtualizer.measureElement(null);
    if (this.left > 0 && !this.wanted && scroller.clientHeight > 0) this.virtualizer.scrollToOffset(this.left);
    this.left = 0;
    if (isNew) void this.drawNext();
    else if (this.isLaidOut && this.wanted && scroller.clientHeight > 0) {
      const { row, align } = this.wanted;
      this.wanted = undefined;
      this.virtualizer.scrollToIndex(row, { align });
    }
  }

  private async drawNext(): Promise<void> {
    await new Pace().rest();
    this.isLaidOut = true;
    this.host.requestUpdate();
  }

  private get scroller(): HTMLElement | null {
    return this.host.renderRoot?.querySelector<HTMLElement>(this.options.scroller) ?? null;
  }

  private settings() {
    return { ...this.steady, count: this.options.count() };
  }

  /** Moves to a row when it is next drawn. `auto` moves only as far as is needed. */
  scrollTo(row: number, align: "center" | "auto" | "start" | "end" = "center"): void {
    this.wanted = { row, align };
    this.host.requestUpdate();
  }

  /** Measures all rows again: what they are has changed. */
  forget(): void {
    this.virtualizer?.measure();
  }

  /** The row at the upper edge, and whether a row is in sight as a whole. */
  get top(): number {
    const scroller = this.scroller;
    return (scroller && this.virtualizer?.getVirtualItemForOffset(scroller.scrollTop)?.index) || 0;
  }

  isSeen(row: number): boolean {
    const scroller = this.scroller;
    const item = this.virtualizer?.getVirtualItems().find(({ index }) => index === row);
    return !!scroller && !!item && item.start >= scroller.scrollTop - 1 && item.end <= scroller.scrollTop + scroller.clientHeight + 1;
  }

  /** The rows in sight. The template's element must have `data-row=${row}`. */
  rows(template: (row: number) => TemplateResult): TemplateResult {
    this.virtualizer?.setOptions(this.settings());
    const items: VirtualItem[] = (this.isLaidOut && this.virtualizer?.getVirtualItems()) || [];
    const start = items[0]?.start ?? 0;
    return html`
      <div class="height" ${styles({ height: `${this.virtualizer?.getTotalSize() ?? 0}px` })}></div>
      <div class="rows" ${styles({ transform: `translateY(${start}px)` })}>
        ${repeat(
          items,
          ({ key }) => key,
          ({ index }) => template(index),
        )}
      </div>
    `;
  }
}
