import { css, html } from "lit";
import { element } from "../element.js";
import { callName, count } from "../rollout/calls.js";
import { base, controls } from "../theme.js";
import { CallLines } from "./call-lines.js";
import { lineStyles } from "./line-styles.js";
import { hitsWithin, segmentAt } from "./ranges.js";
import { safe, safeStyles } from "./safe.js";
import { virtualStyles } from "./virtual-styles.js";

/** The tab Text: what the tokens say, to be read, selected and copied. */
@element("t2t-text")
export class TextLines extends CallLines {
  static override styles = [base, controls, safeStyles, virtualStyles, lineStyles, css`
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
    .piece {
      background: var(--bg);
      unicode-bidi: isolate;
    }
    .piece.selected {
      box-shadow: inset 0 0 0 2em color-mix(in srgb, var(--t2t-accent) 28%, transparent);
    }
    .piece.finding {
      text-decoration: underline wavy 1px var(--mark);
      text-underline-offset: 3px;
    }
    .f-error {
      --mark: var(--t2t-error);
    }
    .f-warning {
      --mark: var(--t2t-warning);
    }
    .f-info {
      --mark: var(--t2t-info);
    }
    .piece.hit {
      background: var(--t2t-hit);
      color: var(--t2t-ink);
    }
    .piece.hit-now,
    .piece.hit-now.selected {
      background: var(--t2t-hit-current);
      color: var(--t2t-hit-current-ink);
      box-shadow: none;
    }
  `];

  protected get width() {
    return { tokens: 80, characters: 240 };
  }

  /** Pieces that look alike: their bounds are those of segments, hits, findings and the selection. */
  protected override tokenRow(start: number, end: number) {
    const selected = this.selected;
    const hits = hitsWithin(this.callHits, start, end, this.longestHit);
    const findings = this.callFindings.filter(({ tokens }) => tokens[0] < end && tokens[1] > start);
    const ranges = [...hits, ...findings].map(({ tokens }) => tokens);
    if (selected) ranges.push(selected);
    const bounds = new Set([start, end, ...ranges.flat().filter((bound) => bound > start && bound < end)]);
    for (let token = start; token < end; ) {
      const segment = segmentAt(this.segments, token);
      token = segment ? segment.tokens[1] : end;
      if (token < end) bounds.add(token);
    }
    const sorted = [...bounds].sort((a, b) => a - b);
    const current = this.hits[this.hit];
    return sorted.slice(0, -1).map((from, at) => {
      const to = sorted[at + 1]!;
      const names = ["piece", segmentAt(this.segments, from)?.kind ?? ""];
      if (selected && selected[0] <= from && from < selected[1]) names.push("selected");
      const found = hits.filter(({ tokens }) => tokens[0] <= from && from < tokens[1]);
      if (found.length > 0) names.push(current && found.includes(current) ? "hit-now" : "hit");
      const finding = findings.find(({ tokens }) => tokens[0] <= from && from < tokens[1]);
      if (finding) names.push("finding", `f-${finding.level}`);
      return html`<span class=${names.join(" ")}>${safe(this.text.text(from, to), { chips: 60 })}</span>`;
    });
  }

  protected override render() {
    const { text } = this;
    const kinds = [...new Set(this.segments.map(({ kind }) => kind))];
    return html`
      <div class="tools">${kinds.map((kind) => html`<span class="kind ${kind}">${kind}</span>`)} <span class="faint number">${count(text.tokens.text.length)} characters</span> ${this.copyButtons()}</div>
      <div class="scroller" tabindex="0" role="group" aria-label="Text of ${callName(this.detail.rollout.calls, this.tokens.call)}">
        ${!text.hasText ? html`<p class="empty faint">${text.count === 0 ? "This call has no tokens." : "No tokenizer is open for this model, so there is no text. Its ids are in Tokens."}</p>` : this.scrollerRows()}
      </div>
    `;
  }
}
