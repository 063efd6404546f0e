import { LitElement, css, html, nothing } from "lit";
import { property, query, state } from "lit/decorators.js";
import { element } from "../element.js";
import { base, controls } from "../theme.js";
import { EVERYTHING, isEverything, type Filter } from "./filter.js";

/** What the list shows: words, and behind a button the rest. Says `filter` with the new filter, and `group`. */
@element("t2t-filter-bar")
export class FilterBar extends LitElement {
  static override styles = [
    base,
    controls,
    css`
      .bar,
      .more {
        display: flex;
        flex-wrap: wrap;
        align-items: center;
        gap: 6px;
        padding: 6px 8px;
        border-bottom: 1px solid var(--t2t-border);
      }
      .more {
        gap: 6px 14px;
        background: var(--t2t-sunken);
        font-size: var(--t2t-size-small);
      }
      .words {
        flex: 1 1 120px;
      }
      .short {
        width: 64px;
      }
      .on {
        width: 6px;
        height: 6px;
        border-radius: 3px;
        background: var(--t2t-accent);
      }
    `,
  ];

  @property({ attribute: false }) filter: Filter = EVERYTHING;
  @property({ type: Boolean }) isGrouped = false;
  /** Ids of the columns that the list has. */
  @property({ attribute: false }) has = new Set<string>();
  @state() private isOpen = false;
  @query(".words") private words!: HTMLInputElement;

  override focus() {
    this.words.focus();
  }

  override render() {
    const { filter, has } = this;
    const more = !isEverything({ ...filter, text: "" });
    return html`
      <div class="bar">
        <input
          class="words"
          type="search"
          placeholder="Filter: step, sample, model, id"
          aria-label="Filter rollouts"
          .value=${filter.text}
          @input=${(event: Event) => this.change({ text: valueOf(event) })}
        />
        <button type="button" aria-expanded=${this.isOpen} @click=${() => (this.isOpen = !this.isOpen)}>
          Filters${more ? html`<span class="on" role="img" aria-label="some are set"></span>` : nothing}
        </button>
        ${has.has("sample")
          ? html`<button
              type="button"
              aria-pressed=${this.isGrouped}
              title="Rollouts of the same sample together"
              @click=${() => this.dispatchEvent(new Event("group"))}
            >
              Group
            </button>`
          : nothing}
      </div>
      ${this.isOpen ? this.more() : nothing}
    `;
  }

  private more() {
    const { filter, has } = this;
    return html`<div class="more" role="group" aria-label="Filters">
      ${has.has("step")
        ? html`<label
            >Step
            <input class="short" placeholder="any" title="41, or 40-45" .value=${filter.step} @input=${(event: Event) => this.change({ step: valueOf(event) })}
          /></label>`
        : nothing}
      ${has.has("reward")
        ? html`<label>Reward ${this.bound("rewardFrom", "from")}</label>${this.bound("rewardTo", "to")}`
        : nothing}
      <label
        >Findings
        <select @change=${(event: Event) => this.change({ findings: (valueOf(event) || undefined) as Filter["findings"] })}>
          ${[
            ["", "any"],
            ["info", "some"],
            ["warning", "warnings"],
            ["error", "errors"],
          ].map(([value, label]) => html`<option value=${value!} ?selected=${(filter.findings ?? "") === value}>${label}</option>`)}
        </select></label
      >
      ${has.has("validate")
        ? html`<label
            >Validation
            <select @change=${(event: Event) => this.change({ validate: { yes: true, no: false }[valueOf(event)] })}>
              ${["any", "yes", "no"].map(
                (value) =>
                  html`<option ?selected=${value === (filter.validate === undefined ? "any" : filter.validate ? "yes" : "no")}>${value}</option>`,
              )}
            </select></label
          >`
        : nothing}
      ${isEverything(filter)
        ? nothing
        : html`<button type="button" class="link" @click=${() => this.change(EVERYTHING, true)}>Clear</button>`}
    </div>`;
  }

  private bound(which: "rewardFrom" | "rewardTo", label: string) {
    return html`<input
      class="short"
      type="number"
      step="any"
      placeholder=${label}
      aria-label="Reward ${label}"
      .value=${String(this.filter[which] ?? "")}
      @input=${(event: Event) => {
        const text = valueOf(event);
        this.change({ [which]: text === "" ? undefined : Number(text) });
      }}
    />`;
  }

  private change(change: Partial<Filter>, isWhole = false): void {
    const detail = isWhole ? change : { ...this.filter, ...change };
    this.dispatchEvent(new CustomEvent("filter", { detail }));
  }
}

const valueOf = (event: Event) => (event.target as HTMLInputElement | HTMLSelectElement).value;
