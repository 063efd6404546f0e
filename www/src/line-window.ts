import type { ReactiveController, ReactiveControllerHost } from "lit";

/** Lines that are drawn above and below what is seen. */
const BEYOND = 6;

/** Which lines of a list, all of one height, are seen: the others need not exist. */
export class LineWindow implements ReactiveController {
  private top = 0;
  private height = 600;
  private scroller?: HTMLElement;
  /** Whether the scroller is to go where the window is, when the lines are drawn. */
  private isMoved = false;
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

  hostUpdated() {
    if (!this.isMoved || !this.scroller) return;
    this.isMoved = false;
    this.scroller.scrollTop = this.top;
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

  /** Of so many lines the first that is seen, and the one behind the last. */
  seen(count: number): { first: number; last: number } {
    const last = Math.ceil((this.top + this.height - this.head) / this.line);
    return { first: Math.min(Math.floor(this.top / this.line), count), last: this.height > this.head ? Math.min(count, last) : 0 };
  }

  /** Goes on by so many lines, when they are next drawn: what is seen stays where it is if as many came before it. */
  move(by: number): void {
    if (by === 0) return;
    this.top = Math.max(0, this.top + by * this.line);
    this.isMoved = true;
    this.host.requestUpdate();
  }

  /** Lines that fit at once. */
  get page(): number {
    return Math.max(1, Math.floor((this.height - this.head) / this.line) - 1);
  }

  /** Scrolls so that a line is the first one, as far as there are lines. */
  show(line: number): void {
    if (this.scroller) this.scroller.scrollTop = line * this.line;
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
