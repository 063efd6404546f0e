import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { element } from "../element.js";
import { count, tokenCount } from "../rollout/calls.js";
import { base, controls } from "../theme.js";
import { plain } from "./safe-text.js";
import { numberText, STEPS, type Scale } from "./scale.js";
import { scaleStyles } from "./scale-styles.js";
import { SettingsEvent, type TokenSettings } from "./token-settings.js";

/** Steps of the slider. */
const STOPS = 500;

/** What tokens are coloured by, with the legend of the scale and the threshold. Tells changes by `SettingsEvent`, and asks by `beyond` for the next token. */
@element("t2t-token-bar")
export class TokenBar extends LitElement {
  static override styles = [base, controls, scaleStyles, css`
    :host {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 14px;
      font-size: var(--t2t-size-small);
    }
    .legend {
      display: flex;
      align-items: center;
      gap: 6px;
    }
    .steps {
      display: flex;
      border: 1px solid var(--t2t-border);
      border-radius: 3px;
      overflow: hidden;
    }
    .steps i {
      width: 8px;
      height: 12px;
      background: var(--step);
    }
    .threshold {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 6px;
    }
    .kind {
      display: inline-flex;
      align-items: center;
      gap: 4px;
    }
    .kind::before {
      content: "";
      width: 10px;
      height: 10px;
      border-radius: 2px;
      background: var(--bg);
      border: 1px solid var(--line);
    }
    input[type="range"] {
      width: 110px;
      min-height: 0;
      padding: 0;
      border: 0;
      accent-color: var(--t2t-accent);
    }
    button,
    select {
      min-height: 24px;
      padding-block: 1px;
    }
    button.icon {
      width: 24px;
    }
  `];

  @property({ attribute: false }) settings!: TokenSettings;
  /** Names of what can be coloured by, with what people call it. */
  @property({ attribute: false }) names: [name: string, label: string][] = [];
  @property({ attribute: false }) scale?: Scale;
  /** The kinds of segments that there are. */
  @property({ attribute: false }) kinds: string[] = [];
  /** How many tokens are beyond the threshold. */
  @property({ type: Number }) beyond = 0;

  protected override render() {
    const { settings, scale, names } = this;
    return html`
      <label>Colour
        <select @change=${(event: Event) => this.change({ colour: (event.target as HTMLSelectElement).value, threshold: undefined })}>
          ${[["segment", "segment"], ...names].map(([name, label]) => html`<option value=${name!} .selected=${settings.colour === name}>${plain(label!, 40)}</option>`)}
        </select>
      </label>
      ${settings.colour === "segment" ? this.kinds.map((kind) => html`<span class="kind ${kind}">${kind}</span>`) : scale ? [this.legend(scale), this.threshold(scale)] : html`<span class="faint">No token of this call has one.</span>`}
    `;
  }

  private legend(scale: Scale) {
    // From low to high, as one reads; the loud end may be either.
    const order = Array.from({ length: STEPS }, (_, at) => (scale.kind === "sequential" && scale.notable === "low" ? STEPS - 1 - at : at));
    const name = scale.kind === "diverging" ? "d" : "s";
    return html`<span class="legend number" role="img" aria-label="Colours from ${numberText(scale.low)} to ${numberText(scale.high)}" title="1% of the numbers are below, 1% above; ${count(scale.count)} in all, from ${numberText(scale.least)} to ${numberText(scale.greatest)}">
      ${numberText(scale.low)}<span class="steps">${order.map((step) => html`<i class="${name}${step}"></i>`)}</span>${numberText(scale.high)}
    </span>`;
  }

  private threshold(scale: Scale) {
    const { threshold } = this.settings;
    if (!threshold) {
      const side = scale.notable === "low" ? "below" : "above";
      return html`<button class="quiet" @click=${() => this.change({ threshold: { side, value: scale.notable === "low" ? scale.low : scale.high } })}>Threshold…</button>`;
    }
    const { least, greatest } = scale;
    const span = greatest - least || 1;
    const set = (value: number) => Number.isFinite(value) && this.change({ threshold: { ...threshold, value } });
    // The square gives the crowded end more room.
    const share = Math.min(1, Math.max(0, (threshold.value - least) / span));
    const isLow = scale.notable === "low";
    const stop = Math.round(STOPS * (isLow ? 1 - Math.sqrt(1 - share) : Math.sqrt(share)));
    const valueAt = (stop: number) => (isLow ? greatest - span * (1 - stop / STOPS) ** 2 : least + span * (stop / STOPS) ** 2);
    return html`<span class="threshold">
      <select aria-label="Side of the threshold" @change=${(event: Event) => this.change({ threshold: { ...threshold, side: (event.target as HTMLSelectElement).value as "below" | "above" } })}>
        <option value="below" .selected=${threshold.side === "below"}>below</option>
        <option value="above" .selected=${threshold.side === "above"}>above</option>
      </select>
      <input type="range" min="0" max=${STOPS} .value=${String(stop)} aria-label="Threshold" aria-valuetext=${numberText(threshold.value)} @input=${(event: Event) => set(valueAt(Number((event.target as HTMLInputElement).value)))} />
      <input class="number" aria-label="Threshold as a number" size="7" .value=${numberText(threshold.value)} @change=${(event: Event) => set(Number((event.target as HTMLInputElement).value.replace("−", "-")))} />
      <span class="number" aria-live="polite">${tokenCount(this.beyond)}</span>
      <button class="icon" aria-label="Previous token ${threshold.side} the threshold" title="Previous one ${threshold.side} (Shift+T)" ?disabled=${this.beyond === 0} @click=${() => this.ask(-1)}>↑</button>
      <button class="icon" aria-label="Next token ${threshold.side} the threshold" title="Next one ${threshold.side} (T)" ?disabled=${this.beyond === 0} @click=${() => this.ask(1)}>↓</button>
      <button class="quiet icon" aria-label="No threshold" title="No threshold" @click=${() => this.change({ threshold: undefined })}>×</button>
    </span>${nothing}`;
  }

  private change(change: Partial<TokenSettings>) {
    this.dispatchEvent(new SettingsEvent(change));
  }

  private ask(step: 1 | -1) {
    this.dispatchEvent(new CustomEvent<1 | -1>("beyond", { detail: step }));
  }
}
