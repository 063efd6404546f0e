import { css, html, LitElement, nothing } from "lit";
import { property } from "lit/decorators.js";
import { element } from "../element.js";
import type { RolloutDetail, Row, Segment } from "../engine/contract.js";
import { styles } from "../styles.js";
import { safe, safeStyles } from "../text/safe.js";
import { numberText } from "../text/scale.js";
import { base, controls } from "../theme.js";
import { count, tokenCount } from "./calls.js";

const KINDS: Segment["kind"][] = ["prompt", "model", "observation", "inserted", "padding", "placeholder"];

/** What a rollout is, in a few lines. */
@element("t2t-rollout-header")
export class RolloutHeader extends LitElement {
  static override styles = [base, controls, safeStyles, css`
    :host {
      display: grid;
      gap: 6px;
      padding: 10px 12px;
      border-bottom: 1px solid var(--t2t-border);
    }
    .title {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 10px;
    }
    h2 {
      font-size: var(--t2t-size-large);
      overflow-wrap: anywhere;
    }
    dl {
      display: flex;
      flex-wrap: wrap;
      gap: 2px 18px;
    }
    dl > div {
      display: flex;
      gap: 5px;
      max-width: 100%;
    }
    dt {
      color: var(--t2t-ink-faint);
    }
    dd {
      font-variant-numeric: tabular-nums;
      overflow-wrap: anywhere;
    }
    .tokens {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 12px;
      font-size: var(--t2t-size-small);
    }
    .bar {
      display: flex;
      flex: 1 1 160px;
      max-width: 320px;
      height: 8px;
      border-radius: 2px;
      overflow: hidden;
      gap: 1px;
      background: var(--t2t-border);
    }
    .bar i {
      background: var(--line);
      min-width: 1px;
    }
    .kind {
      display: inline-flex;
      align-items: center;
      gap: 5px;
      color: var(--t2t-ink-soft);
    }
    .kind::before {
      content: "";
      width: 8px;
      height: 8px;
      border-radius: 2px;
      background: var(--line);
    }
  `];

  @property({ attribute: false }) detail!: RolloutDetail;
  @property({ attribute: false }) row!: Row;

  protected override render() {
    const { rollout, reward } = this.detail;
    const { statistics, calls } = rollout;
    const places: [string, number | undefined][] = [["Step", rollout.step], ["sample", rollout.sampleIndex], ["rollout", rollout.rolloutN]];
    const named = places.filter(([, value]) => value !== undefined).map(([name, value]) => `${name} ${value}`);
    const title = named.length > 0 ? named.join(" · ") : rollout.requestId ? `Request ${rollout.requestId}` : rollout.traceId ? `Trace ${rollout.traceId}` : `Rollout ${this.row.at + 1}`;
    const isTruncated = calls.some(({ role, statistics }) => role === "turn" && statistics.truncated);
    const facts: [name: string, value: string | undefined][] = [
      ["reward", reward === undefined ? undefined : numberText(reward)],
      ["turns", count(statistics.turns || this.row.turns)],
      ["tool calls", statistics.toolCalls > 0 ? count(statistics.toolCalls) : undefined],
      ["logprob mean", statistics.logprobs && numberText(statistics.logprobs.mean)],
      ["least", statistics.logprobs && numberText(statistics.logprobs.least)],
      ["model", rollout.model],
      ["template", rollout.template ?? "none"],
      ["experiment", rollout.experimentName],
    ];
    return html`
      <div class="title">
        <h2>${safe(title.slice(0, 200), { chips: 10 })}</h2>
        ${rollout.validate ? html`<span class="chip">validation</span>` : nothing}
        ${isTruncated ? html`<span class="chip info" title="The model's text has no end: it ran into a limit or was stopped">truncated</span>` : nothing}
        ${rollout.tokenizer === undefined ? html`<span class="chip warning" title="Nothing but the ids can be shown">no tokenizer</span>` : nothing}
      </div>
      <dl>${facts.map(([name, value]) => (value === undefined ? nothing : html`<div><dt>${name}</dt><dd>${safe(value.slice(0, 200), { chips: 10 })}</dd></div>`))}</dl>
      ${this.tokens()}
    `;
  }

  private tokens() {
    const { tokens } = this.detail.rollout.statistics;
    const kinds = KINDS.filter((kind) => tokens[kind] > 0);
    const all = kinds.reduce((sum, kind) => sum + tokens[kind], 0);
    return html`<div class="tokens number">
      <span class="bar" aria-hidden="true">${kinds.map((kind) => html`<i class=${kind} ${styles({ flex: `${tokens[kind]} 1 0` })}></i>`)}</span>
      <span>${tokenCount(all || this.row.tokens)}</span>
      ${kinds.map((kind) => html`<span class="kind ${kind}">${kind} ${count(tokens[kind])}</span>`)}
    </div>`;
  }
}
