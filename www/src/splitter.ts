import { LitElement, css, html } from "lit";
import { property } from "lit/decorators.js";
import { element } from "./element.js";
import { base } from "./theme.js";

const LEAST = 240;
const STEP = 24;

/** The bar between list and rollout. Says `resize` with the width that the left side shall have. */
@element("t2t-splitter")
export class Splitter extends LitElement {
  static override styles = [
    base,
    css`
      :host {
        position: relative;
        flex: none;
        width: 1px;
        background: var(--t2t-border);
      }
      div {
        position: absolute;
        inset: 0 -4px;
        z-index: 2;
        cursor: col-resize;
        touch-action: none;
      }
      div::after {
        content: "";
        position: absolute;
        inset: 0 3px;
        background: transparent;
      }
      /* The line itself shows the focus. */
      div:focus-visible {
        outline: none;
      }
      div:hover::after,
      div:focus-visible::after,
      div:active::after {
        background: var(--t2t-accent);
      }
    `,
  ];

  /** Of the left side, in pixels. */
  @property({ type: Number }) width = 480;
  /** Of both sides. */
  @property({ type: Number }) whole = 1200;

  override render() {
    return html`<div
      role="separator"
      tabindex="0"
      aria-orientation="vertical"
      aria-label="Width of the list"
      aria-valuenow=${Math.round((this.width / this.whole) * 100)}
      aria-valuemin="0"
      aria-valuemax="100"
      @pointerdown=${this.onDown}
      @pointermove=${this.onMove}
      @keydown=${this.onKey}
    ></div>`;
  }

  private resize(width: number): void {
    const detail = Math.round(Math.min(Math.max(LEAST, width), Math.max(LEAST, this.whole - LEAST)));
    this.dispatchEvent(new CustomEvent("resize", { detail }));
  }

  private onDown(event: PointerEvent): void {
    event.preventDefault();
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
  }

  private onMove(event: PointerEvent): void {
    if (!(event.currentTarget as HTMLElement).hasPointerCapture(event.pointerId)) return;
    this.resize(this.width + event.clientX - this.getBoundingClientRect().left);
  }

  private onKey(event: KeyboardEvent): void {
    const widths: Record<string, number> = {
      ArrowLeft: this.width - STEP,
      ArrowRight: this.width + STEP,
      Home: LEAST,
      End: this.whole - LEAST,
    };
    const width = widths[event.key];
    if (width === undefined) return;
    event.preventDefault();
    this.resize(width);
  }
}
