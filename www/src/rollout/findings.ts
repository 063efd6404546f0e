import { css, html, LitElement, nothing } from "lit";
import { property, state } from "lit/decorators.js";
import { element } from "../element.js";
import type { Engine, Finding, Progress, RolloutDetail } from "../engine/contract.js";
import { SelectEvent, type Selection } from "../selection.js";
import { safe, safeStyles } from "../text/safe.js";
import { base, controls } from "../theme.js";
import { callName, count } from "./calls.js";
import "./id-diff.js";

/** So many are drawn at first, and more each time that more are wanted. */
const PAGE = 60;

export class DriftEvent extends Event {
  constructor(readonly findings: Finding[]) {
    super("t2t-drift");
  }
}

/** What is to be looked at, and the button that looks at re-tokenization. Tells what that finds by `DriftEvent`. */
@element("t2t-findings")
export class Findings extends LitElement {
  static override styles = [base, controls, safeStyles, css`
    :host {
      display: block;
    }
    .head {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 8px;
      padding: 6px 12px;
    }
    .head button {
      margin-inline-start: auto;
      min-height: 24px;
      font-size: var(--t2t-size-small);
    }
    .finding {
      display: block;
      width: 100%;
      padding: 5px 12px;
      border: 0;
      border-inline-start: 3px solid transparent;
      border-radius: 0;
      background: none;
      text-align: start;
      white-space: normal;
      overflow-wrap: anywhere;
    }
    .finding[aria-current="true"] {
      border-inline-start-color: var(--t2t-accent);
      background: var(--t2t-selected);
    }
    .code {
      font-weight: 500;
    }
    .where {
      color: var(--t2t-ink-faint);
      font-size: var(--t2t-size-small);
    }
    t2t-id-diff {
      margin: 2px 12px 8px 15px;
    }
    .note {
      padding: 2px 12px 8px;
      color: var(--t2t-ink-soft);
    }
    .note.error {
      color: var(--ink);
    }
    .more {
      margin: 4px 12px 8px;
    }
  `];

  @property({ attribute: false }) engine!: Engine;
  @property({ attribute: false }) detail!: RolloutDetail;
  /** With those of re-tokenization, when they are known. */
  @property({ attribute: false }) findings: Finding[] = [];
  @property({ attribute: false }) selection!: Selection;
  @property({ type: Boolean }) checked = false;
  @state() private progress?: Progress;
  @state() private problem = "";
  @state() private shown = PAGE;
  private checking: RolloutDetail | undefined;

  protected override willUpdate(changed: Map<PropertyKey, unknown>): void {
    if (!changed.has("detail")) return;
    if (this.checking) void this.engine.cancel("check");
    this.checking = this.progress = undefined;
    this.problem = "";
    this.shown = PAGE;
  }

  protected override render() {
    const { findings } = this;
    const levels = (["error", "warning", "info"] as const).map((level) => [level, findings.filter((finding) => finding.level === level).length] as const).filter(([, number]) => number > 0);
    return html`
      <div class="head">
        <h3>Findings</h3>
        ${levels.map(([level, number]) => html`<span class="chip ${level}">${count(number)} ${level === "info" || number === 1 ? level : `${level}s`}</span>`)}
        ${this.checkButton()}
      </div>
      ${this.progress ? html`<p class="note" role="status">${this.progress.what}… <progress value=${this.progress.total ? this.progress.done / this.progress.total : nothing} aria-label=${this.progress.what}></progress></p>` : nothing}
      ${this.problem ? html`<p class="note error" role="alert">${safe(this.problem)}</p>` : nothing}
      ${findings.length === 0 && !this.progress ? html`<p class="note">${this.checked ? "Nothing was found, and the texts give the same ids when they are encoded again." : "Nothing was found."}</p>` : nothing}
      <ul>${findings.slice(0, this.shown).map((finding) => this.finding(finding))}</ul>
      ${findings.length > this.shown ? html`<button class="more" @click=${() => (this.shown += PAGE)}>Show ${count(Math.min(PAGE, findings.length - this.shown))} more of ${count(findings.length)}</button>` : nothing}
    `;
  }

  private checkButton() {
    if (this.progress) return html`<button @click=${() => this.engine.cancel("check")}>Cancel</button>`;
    if (this.checked) return html`<span class="faint" role="status">Re-tokenization checked</span>`;
    const hasTokenizer = this.detail.rollout.tokenizer !== undefined;
    return html`<button ?disabled=${!hasTokenizer} title=${hasTokenizer ? "Encode each text again, and see whether that gives other ids. Loads 1 MB once" : "Open a tokenizer first"} @click=${this.check}>Check re-tokenization</button>`;
  }

  private finding(finding: Finding) {
    const { code, level, message, call, tokens, before, after } = finding;
    const { calls } = this.detail.rollout;
    const selected = this.selection.tokens;
    const isCurrent = this.selection.call === call && tokens !== undefined && selected?.[0] === tokens[0] && selected[1] === tokens[1];
    const labels = code.startsWith("drift") ? ["in the trace", "encoded again"] : ["call before", "this call"];
    return html`<li>
      <button class="finding" aria-current=${isCurrent ? "true" : "false"} @click=${() => this.dispatchEvent(new SelectEvent({ call, tokens }))}>
        <span class="chip ${level}">${level}</span> <span class="code mono">${code}</span> ${safe(message.slice(0, 600), { chips: 20 })}
        <span class="where number">${calls[call] ? callName(calls, call) : ""}${tokens ? `, tokens ${count(tokens[0])}–${count(tokens[1])}` : ""}</span>
      </button>
      ${isCurrent && before && after ? html`<t2t-id-diff .engine=${this.engine} .rollout=${this.detail.at} .one=${before} .other=${after} .labels=${labels}></t2t-id-diff>` : nothing}
    </li>`;
  }

  private async check(): Promise<void> {
    const { detail } = this;
    this.checking = detail;
    this.problem = "";
    this.progress = { what: "Encoding the texts again", done: 0 };
    try {
      const findings = await this.engine.drift(detail.at, (progress) => {
        if (this.checking === detail) this.progress = progress;
      });
      if (this.checking === detail) this.dispatchEvent(new DriftEvent(findings));
    } catch (error) {
      const { code, message } = error as { code?: string; message?: string };
      if (this.checking === detail && code !== "aborted") this.problem = message ?? String(error);
    }
    if (this.checking === detail) this.checking = this.progress = undefined;
  }
}
