/** A message as a template. */
import { css, html, nothing, type TemplateResult } from "lit";
import type { Hit, Message } from "../engine/contract.js";
import { indentJson } from "../engine/indent.js";
import { safe } from "../text/safe.js";
import { count } from "./calls.js";

/** Characters and lines of a text that are drawn at first; each press draws more, up to what a page can lay out at once. */
const FIRST = { characters: 3000, lines: 60 };
const GROWTH = 8;
const MOST = 200_000;
/** So many hits are marked in a text. */
const MOST_PLACES = 100;

/** How much of a long text is drawn, and what was found in it. */
interface TextView {
  hits: readonly Hit[];
  now: number;
  /** How many places of hits were drawn: texts are drawn in their order. */
  seen: number;
  grown: ReadonlyMap<string, number>;
  grow: (key: string, characters: number) => void;
}

export interface MessageView {
  key: string;
  message: Message;
  hits: readonly Hit[];
  /** Which of the hits is looked at; -1 for none. */
  now: number;
  /** What is unfolded: by the key of the message and the part. */
  open: ReadonlySet<string>;
  /** How far long texts are drawn. */
  grown: ReadonlyMap<string, number>;
  toggle: (key: string) => void;
  grow: (key: string, characters: number) => void;
  /** Shows the tokens of the message, in the tab Tokens. */
  look: () => void;
}

export function messageTemplate(given: MessageView): TemplateResult {
  const view = { ...given, seen: 0 };
  const { key, message, hits } = view;
  const { role, content, reasoning, toolCalls, tokens, closed } = message;
  const isEmpty = content.trim() === "" && !reasoning && !toolCalls?.length;
  return html`
    <div class="message-head">
      <span class="role">${role === undefined ? "text without a header" : safe(role.slice(0, 40), { chips: 4 })}</span>
      ${closed ? nothing : html`<span class="chip info" title="The token that ends a message is not there">open</span>`}
      ${hits.length > 0 ? html`<span class="chip">${count(hits.length)} ${hits.length === 1 ? "hit" : "hits"}</span>` : nothing}
      <button class="link number range" title="Show these tokens" @click=${view.look}>${count(tokens[0])}–${count(tokens[1])}</button>
    </div>
    ${reasoning ? reasoningTemplate(view, reasoning) : nothing}
    ${content.trim() === "" ? nothing : html`<div class="content ${role === "tool" ? "mono" : ""}">${long(view, `${key}/content`, content)}</div>`}
    ${toolCalls?.map(
      ({ name, arguments: json }, at) => html`<div class="tool">
        <div class="tool-name"><span class="faint">calls</span> <span class="mono">${safe(name.slice(0, 200), { chips: 8 })}</span></div>
        <div class="content mono">${long(view, `${key}/tool${at}`, json.length < MOST ? indentJson(json) : json)}</div>
      </div>`,
    )}
    ${isEmpty ? html`<p class="faint">empty</p>` : nothing}
  `;
}

function reasoningTemplate(view: MessageView & TextView, reasoning: string) {
  const key = `${view.key}/reasoning`;
  const places = placesOf(view, reasoning).length;
  // What is looked at is not hidden.
  const isOpen = view.open.has(key) || (view.now >= 0 && view.now < places);
  if (!isOpen) view.seen += places;
  return html`<div class="reasoning">
    <button class="fold" aria-expanded=${String(isOpen)} @click=${() => view.toggle(key)}>Reasoning <span class="faint number">${count(reasoning.length)} characters</span></button>
    ${isOpen ? html`<div class="content">${long(view, key, reasoning)}</div>` : nothing}
  </div>`;
}

/** A text that may be very long. */
export function long(view: TextView, key: string, text: string) {
  const grown = view.grown.get(key);
  const end = grown ? Math.min(text.length, grown) : firstPart(text);
  const shown = marked(view, text.slice(0, end));
  if (end >= text.length) return shown;
  const next = Math.min(text.length, end * GROWTH, end + MOST);
  const label = next === text.length ? `Show all ${count(text.length)} characters` : `Show ${count(next)} of ${count(text.length)} characters`;
  return html`${shown}<span class="cut">…</span><br /><button class="small" @click=${() => view.grow(key, next)}>${label}</button>`;
}

function firstPart(text: string): number {
  let end = Math.min(text.length, FIRST.characters);
  let feed = -1;
  for (let line = 0; line < FIRST.lines; line++) {
    feed = text.indexOf("\n", feed + 1);
    if (feed === -1 || feed >= end) return end;
  }
  return feed;
}

/** Where words that were found stand in a text. Hits are known by their tokens; their words are looked for. */
function placesOf({ hits }: Pick<TextView, "hits">, text: string): { start: number; end: number }[] {
  const words = new Set(hits.map(({ snippet }) => snippet?.found ?? "").filter((found) => found.trim() !== ""));
  if (words.size === 0) return [];
  const places: { start: number; end: number }[] = [];
  for (const { index, 0: word } of text.matchAll(new RegExp([...words].slice(0, MOST_PLACES).map(escape).join("|"), "gu"))) {
    if (places.length === MOST_PLACES) break;
    places.push({ start: index, end: index + word.length });
  }
  return places;
}

function marked(view: TextView, text: string) {
  const parts: unknown[] = [];
  let end = 0;
  for (const place of placesOf(view, text)) {
    parts.push(safe(text.slice(end, place.start)), html`<mark class=${view.seen++ === view.now ? "now" : ""}>${safe(text.slice(place.start, place.end))}</mark>`);
    end = place.end;
  }
  return [...parts, safe(text.slice(end))];
}

function escape(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\x${sign.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

export const messageStyles = css`
  .message-head {
    display: flex;
    align-items: center;
    gap: 8px;
    min-height: 20px;
  }
  .role {
    font-weight: 600;
    font-size: var(--t2t-size-small);
    color: var(--ink, var(--t2t-ink-soft));
  }
  .message-head .range {
    margin-inline-start: auto;
    color: var(--t2t-ink-faint);
    font-size: var(--t2t-size-tiny);
    text-decoration: none;
  }
  .message-head .range:hover {
    text-decoration: underline;
  }
  .content {
    white-space: pre-wrap;
    overflow-wrap: anywhere;
    unicode-bidi: plaintext;
    tab-size: 4;
  }
  .content.mono {
    line-height: 18px;
  }
  .reasoning {
    margin: 2px 0 6px;
  }
  .reasoning > .content {
    margin: 4px 0 0 5px;
    padding-inline-start: 10px;
    border-inline-start: 2px solid var(--t2t-border);
    color: var(--t2t-ink-soft);
  }
  .fold {
    min-height: 22px;
    padding: 0 8px;
    border-color: transparent;
    background: var(--t2t-sunken);
    color: var(--t2t-ink-soft);
    font-size: var(--t2t-size-small);
  }
  .fold[aria-expanded="true"] {
    background: var(--t2t-sunken);
    border-color: var(--t2t-border);
    color: var(--t2t-ink-soft);
  }
  .fold::before {
    content: "▸";
    font-size: 10px;
  }
  .fold[aria-expanded="true"]::before {
    content: "▾";
  }
  .tool {
    margin: 6px 0 2px;
    border: 1px solid var(--t2t-border);
    border-radius: var(--t2t-radius);
    overflow: hidden;
  }
  .tool-name {
    padding: 3px 10px;
    background: var(--t2t-sunken);
    border-bottom: 1px solid var(--t2t-border);
    font-size: var(--t2t-size-small);
    overflow-wrap: anywhere;
  }
  .tool .content {
    padding: 6px 10px;
  }
  .small {
    min-height: 24px;
    margin-top: 4px;
    font-family: var(--t2t-font);
    font-size: var(--t2t-size-small);
  }
  mark {
    background: var(--t2t-hit);
    color: inherit;
  }
  mark.now {
    background: var(--t2t-hit-current);
    color: var(--t2t-hit-current-ink);
  }
`;
