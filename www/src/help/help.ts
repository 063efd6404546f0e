import { LitElement, css, html } from "lit";
import { query } from "lit/decorators.js";
import { element } from "../element.js";
import { icon } from "../icons.js";
import { KEYS } from "../keys.js";
import { base, controls } from "../theme.js";
import { dialogStyles } from "./dialog-styles.js";

const SHOWN: Record<string, string> = { Escape: "Esc", "Shift+Enter": "⇧ Enter" };

/** The keys, as a dialog. */
@element("t2t-help")
export class Help extends LitElement {
  static override styles = [
    base,
    controls,
    dialogStyles,
    css`
      .groups {
        display: grid;
        grid-template-columns: repeat(auto-fit, minmax(220px, 1fr));
        gap: 18px 28px;
      }
      h3 {
        margin-bottom: 6px;
        color: var(--t2t-ink-soft);
        font-size: var(--t2t-size-small);
      }
      dl {
        display: grid;
        grid-template-columns: auto 1fr;
        gap: 5px 12px;
        align-items: baseline;
      }
      .more {
        margin-top: 16px;
        color: var(--t2t-ink-soft);
        font-size: var(--t2t-size-small);
      }
    `,
  ];

  @query("dialog") private dialog!: HTMLDialogElement;

  show(): void {
    if (!this.dialog.open) this.dialog.showModal();
  }

  override render() {
    return html`<dialog aria-labelledby="title" @click=${(event: Event) => event.target === this.dialog && this.dialog.close()}>
      <div class="inside">
        <div class="head">
          <h2 id="title">Keys</h2>
          <button type="button" class="quiet icon" aria-label="Close" @click=${() => this.dialog.close()}>${icon("close")}</button>
        </div>
        <div class="groups">
          ${KEYS.map(
            ({ title, keys }) =>
              html`<section>
                <h3>${title}</h3>
                <dl>
                  ${keys.map(({ key, help }) => html`<dt><kbd>${SHOWN[key] ?? key}</kbd></dt><dd>${help}</dd>`)}
                </dl>
              </section>`,
          )}
        </div>
        <p class="more">In the list: arrows, Page Up and Down, Home, End. Between list and rollout: Tab to the bar, then arrows.</p>
      </div>
    </dialog>`;
  }
}
