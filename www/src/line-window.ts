import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Lines that are drawn above and below what is seen. */
const BEYOND = 6;

/** Which lines of a list, all of one height, are seen: the others need not exist. */
export class LineWindow implements ReactiveController {
  private top = 0;
  private height = 600;
  private scroller?: HTMLElement;
  private readonly sizes = new ResizeObserver(([entry]) => {
    this.height = entry!.contentRect.height;
    this.host.requestUpdate();
  });

  constructor(
    private readonly host: ReactiveControllerHost,
    /** Pixels. */
    readonly line: number,
    /** Pixels of a head that stays above the lines. */
    private readonly head = 0,
  ) {
    host.addController(this);
  }

  hostDisconnected() {
    this.sizes.disconnect();
    this.scroller = undefined;
  }

  /** Must be called after each update: the element that scrolls may be another one. */
  watch(scroller: HTMLElement | null): void {
    if (!scroller || scroller === this.scroller) return;
    this.sizes.disconnect();
    this.sizes.observe(scroller);
    this.scroller = scroller;
  }

  readonly onScroll = (event: Event) => {
    const { scrollTop } = event.currentTarget as HTMLElement;
    const isSame = Math.floor(scrollTop / this.line) === Math.floor(this.top / this.line);
    this.top = scrollTop;
    if (!isSame) this.host.requestUpdate();
  };

  /** Of so many lines the first to draw, and the one behind the last. */
  range(count: number): { first: number; last: number } {
    const first = Math.floor(this.top / this.line) - BEYOND;
    const last = Math.ceil((this.top + this.height) / this.line) + BEYOND;
    return { first: Math.max(0, Math.min(first, count - 1)), last: Math.min(count, last) };
  }

  /** Lines that fit at once. */
  get page(): number {
    return Math.max(1, Math.floor((this.height - this.head) / this.line) - 1);
  }

  /** Scrolls no farther than it takes to see a line. */
  reveal(line: number): void {
    const { scroller, head } = this;
    if (!scroller) return;
    const above = line * this.line;
    const below = above + this.line - (scroller.clientHeight - head);
    if (above < scroller.scrollTop) scroller.scrollTop = above;
    else if (below > scroller.scrollTop) scroller.scrollTop = below;
  }
}
