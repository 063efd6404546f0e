/** A row of tokens as a template: a node or two for each token. */
import type { Finding, Hit, Segment } from "../engine/contract.js";
import { firstEndingBehind, hitsWithin, type Range } from "./ranges.js";
import { plain } from "./safe-text.js";
import { safeNodes } from "./safe.js";
import { isBeyond, stepOf, type Scale } from "./scale.js";
import type { TokenSettings } from "./token-settings.js";
import { Flag, hex, type TokenText } from "./token-text.js";

export interface Drawn {
  text: TokenText;
  segments: readonly Segment[];
  settings: TokenSettings;
  scale: Scale | undefined;
  values: Float32Array | undefined;
  hits: readonly Hit[];
  longestHit: number;
  hit: Hit | undefined;
  findings: readonly (Finding & { tokens: Range })[];
  selected: Range | undefined;
  cursor: number;
  bytes: (id: number) => Uint8Array | undefined;
}

/** As nodes, not as a template: there are a thousand in sight, and each is drawn anew as one scrolls. */
export function tokenSpans(drawn: Drawn, start: number, end: number): DocumentFragment {
  const { text, segments, settings, scale, values, selected, cursor } = drawn;
  const hits = hitsWithin(drawn.hits, start, end, drawn.longestHit);
  const findings = drawn.findings.filter(({ tokens }) => tokens[0] < end && tokens[1] > start);
  const row = document.createDocumentFragment();
  let segment = firstEndingBehind(segments, start);
  for (let token = start; token < end; token++) {
    while (segment < segments.length && segments[segment]!.tokens[1] <= token) segment++;
    let names = token % 2 ? "t odd" : "t even";
    const value = values?.[token];
    if (values && scale) {
      const step = stepOf(scale, value!);
      names += step < 0 ? " none" : ` scaled ${scale.kind === "diverging" ? "d" : "s"}${step}`;
      if (settings.threshold && isBeyond(settings.threshold, value!)) names += " beyond";
    } else if (segments[segment] && segments[segment].tokens[0] <= token) names += ` ${segments[segment].kind}`;
    if (text.has(token, Flag.special)) names += " special";
    if (selected && token >= selected[0] && token < selected[1]) names += " selected";
    if (token === cursor) names += " cursor";
    const isHere = ({ tokens }: { tokens: Range }) => tokens[0] <= token && token < tokens[1];
    if (hits.some(isHere)) names += drawn.hit && isHere(drawn.hit) ? " hit-now" : " hit";
    const finding = findings.find(isHere);
    if (finding) names += ` finding f-${finding.level}`;
    const span = element("span", names);
    span.setAttribute("data-t", String(token));
    if (settings.ids) {
      const says = element("span");
      says.append(...tokenText(drawn, token));
      span.append(says, element("span", "id", String(text.tokens.ids[token])));
    } else span.append(...tokenText(drawn, token));
    row.append(span);
    if (finding && finding.tokens[1] === token + 1) row.append(...otherSide(finding, text));
  }
  return row;
}

function element(name: string, className = "", text = "", title = ""): HTMLElement {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text) made.textContent = text;
  if (title) made.title = title;
  return made;
}

function tokenText({ text, settings, bytes }: Drawn, token: number): (string | Node)[] {
  const id = text.tokens.ids[token]!;
  if (text.has(token, Flag.unknown)) return [element("span", "bytes", `#${id}`, `The tokenizer has no token ${id}`)];
  if (!text.hasText) return [`${id} `];
  const own = text.isPartial(token) ? bytes(id) : undefined;
  const chips = own && own.length > 0 ? [element("span", "bytes", hex(own), "Its own bytes; the character is shared with its neighbours")] : [];
  const shown = text.text(token);
  if (shown === "") return chips.length > 0 ? chips : [element("span", "bytes", "∅", "It adds no text here")];
  return [...safeNodes(shown, { marks: settings.spaces ? "all" : "lines", chips: 40 }), ...chips];
}

/** What stands elsewhere in place of these tokens: in the call before, or in what the text is encoded to. */
function otherSide({ before, after, tokens, message }: Drawn["findings"][number], { tokens: { ids: all } }: TokenText): Node[] {
  if (!before || !after) return [];
  const isHere = (ids: number[]) => ids.every((id, at) => all[tokens[0] + at] === id);
  const { ids, text } = isHere(after.ids) && !isHere(before.ids) ? before : after;
  const other = element("span", "other", `≠ ${ids.slice(0, 6).join(" ")}${ids.length > 6 ? " …" : ""} `, plain(message));
  const quote = element("q");
  quote.append(...safeNodes(text.slice(0, 24), { marks: "all", chips: 4 }));
  other.append(quote);
  return [other];
}
