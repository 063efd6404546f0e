import { LitElement, css, html } from "lit";
import { property, query } from "lit/decorators.js";
import { element } from "../element.js";
import type { Problem } from "../engine/contract.js";
import { dialogStyles } from "../help/dialog-styles.js";
import { icon } from "../icons.js";
import { plain } from "../text/safe-text.js";
import { base, controls } from "../theme.js";

/** Problems that are listed: the others are counted. */
const MOST = 200;

/** What could not be read, as a dialog. */
@element("t2t-problems")
export class Problems extends LitElement {
  static override styles = [
    base,
    controls,
    dialogStyles,
    css`
      li {
        display: grid;
        grid-template-columns: minmax(48px, auto) minmax(0, 1fr);
        gap: 0 12px;
        padding: 8px 0;
        border-top: 1px solid var(--t2t-border);
      }
      .count {
        text-align: end;
        font-weight: 600;
      }
      p {
        overflow-wrap: anywhere;
      }
      .place {
        font-size: var(--t2t-size-small);
        color: var(--t2t-ink-soft);
      }
    `,
  ];

  @property({ attribute: false }) problems: readonly Problem[] = [];
  @query("dialog") private dialog!: HTMLDialogElement;

  show(): void {
    if (!this.dialog.open) this.dialog.showModal();
  }

  override render() {
    const { problems } = this;
    return html`<dialog aria-labelledby="title" @click=${(event: Event) => event.target === this.dialog && this.dialog.close()}>
      <div class="inside">
        <div class="head">
          <h2 id="title">What could not be read</h2>
          <button type="button" class="quiet icon" aria-label="Close" @click=${() => this.dialog.close()}>${icon("close")}</button>
        </div>
        <p class="soft">All the rest was read.</p>
        <ul>
          ${problems.slice(0, MOST).map(
            ({ source, code, message, count, path }) =>
              html`<li>
                <span class="count number">${count}×</span>
                <div>
                  <p>${plain(message, 600)}</p>
                  <p class="place">${plain(source, 200)}${path ? html` at <span class="mono">${plain(path, 200)}</span>` : ""}, <span class="mono">${plain(code, 60)}</span></p>
                </div>
              </li>`,
          )}
        </ul>
        ${problems.length > MOST ? html`<p class="soft">and ${problems.length - MOST} more</p>` : ""}
      </div>
    </dialog>`;
  }
}
