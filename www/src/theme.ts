/**
 * How the viewer looks: colours, sizes and the small parts that all of its elements share.
 *
 * `theme` holds the custom properties and belongs to `<token2text-viewer>` alone: custom properties go on into shadow roots.
 * `base` (reset, focus, scrollbars) and `controls` (buttons, fields, chips, tables of facts) belong into every element.
 *
 * Each colour is `light-dark(light, dark)`. Which of the two counts is said by `color-scheme`, which follows the system
 * unless the attribute `theme` forces one. Every `-ink` reaches a contrast of 4.5 on `--t2t-bg`, `--t2t-raised` and on its own `-bg`.
 */
import { css } from "lit";

export const theme = css`
  :host {
    color-scheme: light dark;

    --t2t-font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", sans-serif;
    --t2t-mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
    --t2t-size: 13px;
    --t2t-size-small: 12px;
    --t2t-size-tiny: 11px;
    --t2t-size-large: 15px;
    --t2t-size-title: 20px;
    --t2t-line: 1.45;
    --t2t-radius: 6px;
    --t2t-radius-small: 4px;
    --t2t-row: 28px;
    --t2t-gap: 8px;

    /* Surfaces, from the back to the front */
    --t2t-bg: light-dark(#ffffff, #0f1214);
    --t2t-sunken: light-dark(#f6f8f8, #0b0d0f);
    --t2t-raised: light-dark(#ffffff, #171b1e);
    --t2t-hover: light-dark(#f0f4f4, #1c2226);
    --t2t-selected: light-dark(#e0f2ef, #123430);
    --t2t-border: light-dark(#e1e6e7, #272d31);
    --t2t-border-strong: light-dark(#8a9699, #667076);
    --t2t-shadow: 0 4px 16px light-dark(rgb(16 32 36 / 14%), rgb(0 0 0 / 55%));
    --t2t-backdrop: light-dark(rgb(16 24 28 / 35%), rgb(0 0 0 / 60%));

    /* Text */
    --t2t-ink: light-dark(#16201f, #e4e9ea);
    --t2t-ink-soft: light-dark(#4a5759, #a8b3b7);
    --t2t-ink-faint: light-dark(#5f6c6f, #8d999e);

    --t2t-accent: light-dark(#0f766e, #2dd4bf);
    --t2t-accent-ink: light-dark(#0f766e, #2dd4bf);
    --t2t-on-accent: light-dark(#ffffff, #04211d);
    --t2t-focus: light-dark(#0f766e, #2dd4bf);

    /* What was found by search: all hits, and the one that is looked at */
    --t2t-hit: light-dark(#fdecb0, #57470f);
    --t2t-hit-current: light-dark(#f9c74f, #b98a11);
    --t2t-hit-current-ink: light-dark(#16201f, #0b0d0f);

    /* Who wrote it: a line or bar, what stands behind text, and text */
    --t2t-prompt: light-dark(#5b7fb4, #6f93c9);
    --t2t-prompt-bg: light-dark(#eef3fa, #172233);
    --t2t-prompt-ink: light-dark(#2f568f, #a3c1ee);
    --t2t-model: light-dark(#0f9384, #2bb5a3);
    --t2t-model-bg: light-dark(#e2f5f1, #0d2e2a);
    --t2t-model-ink: light-dark(#0b655c, #5fdccb);
    --t2t-observation: light-dark(#d98a2b, #dd9a45);
    --t2t-observation-bg: light-dark(#fdf2e3, #33240f);
    --t2t-observation-ink: light-dark(#8a4f08, #f0b96c);
    --t2t-inserted: light-dark(#9b72c7, #a988d6);
    --t2t-inserted-bg: light-dark(#f4eefb, #261c35);
    --t2t-inserted-ink: light-dark(#6d3fa3, #cdb2f0);
    --t2t-padding: light-dark(#a9b3b5, #5c666a);
    --t2t-padding-bg: light-dark(#f2f4f4, #1a1e21);
    --t2t-padding-ink: light-dark(#5a6668, #97a2a6);
    --t2t-placeholder: light-dark(#c4679a, #d47fae);
    --t2t-placeholder-bg: light-dark(#fbedf4, #351a29);
    --t2t-placeholder-ink: light-dark(#93336a, #f0aed0);

    /* How bad it is */
    --t2t-info: light-dark(#5b7fb4, #6f93c9);
    --t2t-info-bg: light-dark(#eef3fa, #172233);
    --t2t-info-ink: light-dark(#2f568f, #a3c1ee);
    --t2t-warning: light-dark(#c98a00, #e0a82e);
    --t2t-warning-bg: light-dark(#fff5d9, #332708);
    --t2t-warning-ink: light-dark(#7a5200, #f2c65c);
    --t2t-error: light-dark(#d1495b, #e5697a);
    --t2t-error-bg: light-dark(#fdecee, #3a171d);
    --t2t-error-ink: light-dark(#a3213a, #ff9aa8);

    /* A scale with a middle, for the colour-blind too: low, middle, high */
    --t2t-low: light-dark(#c8642a, #e58a4f);
    --t2t-middle: light-dark(#d8dddd, #39424a);
    --t2t-high: light-dark(#2a6fb0, #5ea4e6);

    display: block;
    font: var(--t2t-size) / var(--t2t-line) var(--t2t-font);
    color: var(--t2t-ink);
    background: var(--t2t-bg);
    -webkit-text-size-adjust: 100%;
  }
  :host([theme="light"]) {
    color-scheme: light;
  }
  :host([theme="dark"]) {
    color-scheme: dark;
  }
  :host([hidden]) {
    display: none;
  }
`;

/** What every element of the viewer begins with. */
export const base = css`
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  :host([hidden]),
  [hidden] {
    display: none !important;
  }
  :focus-visible {
    outline: 2px solid var(--t2t-focus);
    outline-offset: 1px;
  }
  ::selection {
    background: color-mix(in srgb, var(--t2t-accent) 30%, transparent);
  }
  * {
    scrollbar-width: thin;
    scrollbar-color: var(--t2t-border-strong) transparent;
  }
  h1,
  h2,
  h3,
  p,
  ul,
  ol,
  dl,
  dd,
  figure {
    margin: 0;
    padding: 0;
  }
  ul,
  ol {
    list-style: none;
  }
  h2,
  h3 {
    font-size: var(--t2t-size);
    font-weight: 600;
  }
  .mono {
    font-family: var(--t2t-mono);
    font-size: var(--t2t-size-small);
  }
  .number {
    font-variant-numeric: tabular-nums;
  }
  .soft {
    color: var(--t2t-ink-soft);
  }
  .faint {
    color: var(--t2t-ink-faint);
  }
  .ellipsis {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  /* Something is followed: a dot that breathes, and in words what is waited for */
  .breath {
    width: 8px;
    height: 8px;
    border-radius: 4px;
    background: var(--t2t-accent);
    animation: breath 2.4s ease-in-out infinite;
  }
  .breath ~ strong {
    color: var(--t2t-ink);
    font-size: var(--t2t-size-large);
    font-weight: 600;
  }
  .breath ~ code {
    max-width: 100%;
    padding: 6px 10px;
    border-radius: var(--t2t-radius-small);
    background: var(--t2t-sunken);
    color: var(--t2t-ink);
    font: var(--t2t-size-small) var(--t2t-mono);
    overflow-wrap: anywhere;
    user-select: all;
  }
  @keyframes breath {
    50% {
      opacity: 0.35;
    }
  }
  /* For those who listen */
  .unseen {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  @media (prefers-reduced-motion: reduce) {
    * {
      animation: none !important;
      transition: none !important;
    }
  }
`;

/** Buttons (`button`, `.primary`, `.quiet`, `.icon`), fields, `.chip` with a level or a segment as its second class, `kbd`, progress. */
export const controls = css`
  button,
  input,
  select {
    font: inherit;
    color: inherit;
    border-radius: var(--t2t-radius-small);
  }
  button {
    display: inline-flex;
    align-items: center;
    justify-content: center;
    gap: 6px;
    min-height: 28px;
    padding: 3px 10px;
    border: 1px solid var(--t2t-border);
    background: var(--t2t-raised);
    cursor: pointer;
    white-space: nowrap;
  }
  button:hover:not(:disabled) {
    background: var(--t2t-hover);
    border-color: var(--t2t-border-strong);
  }
  button:disabled {
    color: var(--t2t-ink-faint);
    cursor: default;
    opacity: 0.7;
  }
  button[aria-pressed="true"],
  button[aria-expanded="true"]:not(.quiet) {
    background: var(--t2t-selected);
    border-color: var(--t2t-accent);
    color: var(--t2t-accent-ink);
  }
  button.primary {
    background: var(--t2t-accent);
    border-color: var(--t2t-accent);
    color: var(--t2t-on-accent);
    font-weight: 500;
  }
  button.primary:hover:not(:disabled) {
    background: color-mix(in srgb, var(--t2t-accent) 88%, var(--t2t-ink));
    border-color: var(--t2t-accent);
  }
  button.quiet {
    border-color: transparent;
    background: transparent;
  }
  button.quiet:hover:not(:disabled) {
    background: var(--t2t-hover);
  }
  button.icon {
    width: 28px;
    padding: 0;
  }
  button.link {
    min-height: 0;
    padding: 0;
    border: 0;
    background: none;
    color: var(--t2t-accent-ink);
    text-decoration: underline;
    text-underline-offset: 2px;
  }
  input:not([type="checkbox"], [type="radio"]),
  select {
    min-height: 28px;
    padding: 3px 8px;
    border: 1px solid var(--t2t-border-strong);
    background: var(--t2t-bg);
    min-width: 0;
  }
  input::placeholder {
    color: var(--t2t-ink-faint);
    opacity: 1;
  }
  input[aria-invalid="true"] {
    border-color: var(--t2t-error);
  }
  input[type="checkbox"],
  input[type="radio"] {
    accent-color: var(--t2t-accent);
    margin: 0;
  }
  label {
    display: inline-flex;
    align-items: center;
    gap: 6px;
  }
  kbd {
    display: inline-block;
    min-width: 20px;
    padding: 0 5px;
    border: 1px solid var(--t2t-border);
    border-bottom-width: 2px;
    border-radius: var(--t2t-radius-small);
    background: var(--t2t-sunken);
    font: var(--t2t-size-tiny) / 18px var(--t2t-mono);
    text-align: center;
  }
  progress {
    appearance: none;
    width: 100%;
    height: 4px;
    border: 0;
    border-radius: 2px;
    overflow: hidden;
    background: var(--t2t-border);
  }
  progress::-webkit-progress-bar {
    background: var(--t2t-border);
  }
  progress::-webkit-progress-value {
    background: var(--t2t-accent);
  }
  progress::-moz-progress-bar {
    background: var(--t2t-accent);
  }
  progress:indeterminate {
    background: linear-gradient(90deg, transparent 30%, var(--t2t-accent) 30% 60%, transparent 60%) 0 0 / 200% 100% var(--t2t-border);
    animation: waiting 1.4s linear infinite;
  }
  progress:indeterminate::-moz-progress-bar {
    background: transparent;
  }
  @keyframes waiting {
    to {
      background-position: -200% 0;
    }
  }
  .chip {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    max-width: 100%;
    padding: 0 6px;
    border: 1px solid var(--t2t-border);
    border-radius: 9px;
    background: var(--t2t-sunken);
    font-size: var(--t2t-size-tiny);
    line-height: 18px;
    white-space: nowrap;
    font-variant-numeric: tabular-nums;
  }
  .info {
    --ink: var(--t2t-info-ink);
    --bg: var(--t2t-info-bg);
    --line: var(--t2t-info);
  }
  .warning {
    --ink: var(--t2t-warning-ink);
    --bg: var(--t2t-warning-bg);
    --line: var(--t2t-warning);
  }
  .error {
    --ink: var(--t2t-error-ink);
    --bg: var(--t2t-error-bg);
    --line: var(--t2t-error);
  }
  .prompt {
    --ink: var(--t2t-prompt-ink);
    --bg: var(--t2t-prompt-bg);
    --line: var(--t2t-prompt);
  }
  .model {
    --ink: var(--t2t-model-ink);
    --bg: var(--t2t-model-bg);
    --line: var(--t2t-model);
  }
  .observation {
    --ink: var(--t2t-observation-ink);
    --bg: var(--t2t-observation-bg);
    --line: var(--t2t-observation);
  }
  .inserted {
    --ink: var(--t2t-inserted-ink);
    --bg: var(--t2t-inserted-bg);
    --line: var(--t2t-inserted);
  }
  .padding {
    --ink: var(--t2t-padding-ink);
    --bg: var(--t2t-padding-bg);
    --line: var(--t2t-padding);
  }
  .placeholder {
    --ink: var(--t2t-placeholder-ink);
    --bg: var(--t2t-placeholder-bg);
    --line: var(--t2t-placeholder);
  }
  .chip:is(.info, .warning, .error, .prompt, .model, .observation, .inserted, .padding, .placeholder) {
    color: var(--ink);
    background: var(--bg);
    border-color: color-mix(in srgb, var(--line) 40%, transparent);
  }
`;
