import { css, html, LitElement } from "lit";
import { property } from "lit/decorators.js";
import { element } from "../element.js";
import type { Engine } from "../engine/contract.js";
import { plain } from "../text/safe-text.js";
import { safe, safeStyles } from "../text/safe.js";
import { TokenBytes } from "../text/token-bytes.js";
import { hex } from "../text/token-text.js";
import { base, controls } from "../theme.js";
import { differences } from "./differences.js";

interface Side {
  ids: number[];
  text: string;
}
/** Lists of a rollout are cut at this length. */
const MOST = 16;
const DECODER = new TextDecoder();

/** Two lists of ids beside each other, each id with what it says by itself; what both have is quiet. */
@element("t2t-id-diff")
export class IdDiff extends LitElement {
  static override styles = [base, controls, safeStyles, css`
    :host {
      display: grid;
      grid-template-columns: auto minmax(0, 1fr);
      gap: 4px 10px;
      align-items: start;
      font-size: var(--t2t-size-small);
    }
    .label {
      color: var(--t2t-ink-soft);
      padding-top: 2px;
    }
    .ids {
      display: flex;
      flex-wrap: wrap;
      gap: 3px;
    }
    .id {
      display: inline-flex;
      flex-direction: column;
      max-width: 100%;
      padding: 0 5px;
      border: 1px solid var(--t2t-border);
      border-radius: var(--t2t-radius-small);
      background: var(--t2t-bg);
      font: var(--t2t-size-small) / 17px var(--t2t-mono);
      white-space: pre-wrap;
      overflow-wrap: anywhere;
      unicode-bidi: isolate;
    }
    .id small {
      color: var(--t2t-ink-faint);
      font-size: 10px;
      line-height: 13px;
    }
    .same {
      color: var(--t2t-ink-soft);
      background: none;
    }
    .before.differs {
      border-color: var(--t2t-low);
      box-shadow: inset 3px 0 0 var(--t2t-low);
      padding-inline-start: 8px;
    }
    .after.differs {
      border-color: var(--t2t-high);
      box-shadow: inset 3px 0 0 var(--t2t-high);
      padding-inline-start: 8px;
    }
    .whole {
      grid-column: 2;
      font: var(--t2t-size-small) / 17px var(--t2t-mono);
      white-space: pre-wrap;
      overflow-wrap: anywhere;
      color: var(--t2t-ink-soft);
    }
  `];

  @property({ attribute: false }) engine!: Engine;
  /** Position of the rollout in the engine's list. */
  @property({ type: Number }) rollout = 0;
  @property({ attribute: false }) one!: Side;
  @property({ attribute: false }) other!: Side;
  @property({ attribute: false }) labels: [before: string, after: string] = ["before", "after"];
  private readonly bytes = new TokenBytes(this, () => ({ engine: this.engine, rollout: this.rollout }));

  protected override render() {
    const { one: before, other: after, labels } = this;
    const marks = differences(before.ids, after.ids, Math.max(before.ids.length, after.ids.length) >= MOST);
    return [this.side(before, "before", labels[0], marks.one), this.side(after, "after", labels[1], marks.other)];
  }

  private side({ ids, text }: Side, name: string, label: string, differs: boolean[]) {
    return html`
      <span class="label">${label}</span>
      <span class="ids">
        ${ids.length === 0 ? html`<span class="faint">nothing</span>` : ids.map((id, at) => html`<span class="id ${name} ${differs[at] ? "differs" : "same"}"><span>${this.says(id)}</span><small>${id}</small></span>`)}
      </span>
      ${text === "" || text === this.spelled(ids) ? "" : html`<span class="whole">“${safe(text.slice(0, 300), { marks: "lines", chips: 20 })}${text.length > 300 ? "…" : ""}”</span>`}
    `;
  }

  /** What the ids say one by one. */
  private spelled(ids: number[]): string {
    return ids.map((id) => DECODER.decode(this.bytes.get(id))).join("");
  }

  private says(id: number) {
    const bytes = this.bytes.get(id);
    if (!bytes || bytes.length === 0) return "·";
    const text = DECODER.decode(bytes);
    return text.includes("\ufffd") ? hex(bytes) : plain(text, 60, "all");
  }
}
