/** Text of a trace as templates: text nodes and chips, and nothing that it could say would be anything else. */
import { css, html } from "lit";
import { cut, isPlain, type CutOptions, type Run } from "./safe-text.js";

export function safe(text: string, options?: CutOptions) {
  const runs = cut(text, options);
  return runs.length === 1 && runs[0]!.kind === "text" ? runs[0]!.text : runs.map(template);
}

function template(run: Run, at: number, { length }: readonly Run[]) {
  if (run.kind === "text") return run.text;
  if (run.kind === "chip") return html`<span class="hidden-chip ${run.isLoud ? "loud" : ""}" title=${run.title}>${run.text}</span>`;
  // A line feed still ends its line, but an empty one behind the last is of no use.
  return html`<span class="space-mark">${run.text}</span>${run.source === "\n" && at + 1 < length ? "\n" : ""}`;
}

/** The same as nodes, for what is drawn by the thousand. */
export function safeNodes(text: string, options?: CutOptions): (string | Node)[] {
  if (isPlain(text, options)) return [text];
  const runs = cut(text, options);
  return runs.flatMap((run, at) => {
    if (run.kind === "text") return [run.text];
    const span = document.createElement("span");
    span.textContent = run.text;
    if (run.kind === "mark") {
      span.className = "space-mark";
      return run.source === "\n" && at + 1 < runs.length ? [span, "\n"] : [span];
    }
    span.className = run.isLoud ? "hidden-chip loud" : "hidden-chip";
    span.title = run.title;
    return [span];
  });
}

export const safeStyles = css`
  .hidden-chip {
    display: inline-block;
    margin: 0 1px;
    padding: 0 3px;
    border-radius: 3px;
    background: color-mix(in srgb, var(--t2t-border-strong) 22%, var(--t2t-bg));
    color: var(--t2t-ink);
    font: 600 10px / 14px var(--t2t-font);
    vertical-align: 1px;
    white-space: nowrap;
    unicode-bidi: isolate;
  }
  .hidden-chip.loud {
    background: var(--t2t-error-bg);
    color: var(--t2t-error-ink);
  }
  .space-mark {
    opacity: 0.55;
  }
`;
