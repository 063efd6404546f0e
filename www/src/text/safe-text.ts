/**
 * Text of a trace is hostile. It goes into text nodes only, and what a browser would not show, or would let move its
 * neighbours (controls, bidi marks, zero-width and tag characters, lone surrogates), stands there by its name.
 */

/** `text` is shown as it is; `chip` stands for characters by their name, loud if they may deceive; `mark` stands for white space that `source` is. */
export type Run =
  | { kind: "text"; text: string }
  | { kind: "chip"; text: string; title: string; source: string; isLoud: boolean }
  | { kind: "mark"; text: string; source: string };

export interface CutOptions {
  /** White space that is marked: none, line feeds, or spaces and tabs too. */
  marks?: "none" | "lines" | "all";
  /** So many chips at most; what comes behind them stands in the text, as `‹NUL›`. */
  chips?: number;
}

const UNSEEN = String.raw`\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufffd`;
// Signs that stand around Arabic numbers are of the class of format characters, but are drawn.
const FORMAT = String.raw`(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2]|\u{110bd}|\u{110cd})\p{Cf}`;
const CONTROL = String.raw`(?![\t\n])\p{Cc}`;
/** Scripts whose letters joiners give another form. */
const SHAPED = "Arab Syrc Mong Deva Beng Guru Gujr Orya Taml Telu Knda Mlym Sinh Khmr Mymr".split(" ").map((script) => `\\p{scx=${script}}`).join("");
// Joiners and selectors where they belong: in an emoji, or between letters. They are seen by what they do.
const PICTURE = String.raw`\p{Extended_Pictographic}`;
const BELONGING = String.raw`(?<=\p{Emoji})\ufe0f|(?<=${PICTURE}\ufe0f?|\p{Emoji_Modifier})\u200d(?=${PICTURE})|(?<=[${SHAPED}])[\u200c\u200d](?=[${SHAPED}])`;
const HIDDEN = `(?:(?!${BELONGING})(?:[${UNSEEN}]|${FORMAT}|${CONTROL}))+`;

const PARTS = {
  none: new RegExp(HIDDEN, "gu"),
  lines: new RegExp(`${HIDDEN}|\\n`, "gu"),
  all: new RegExp(`${HIDDEN}|\\n| +|\\t`, "gu"),
};
const MARKS: Record<string, (text: string) => string> = { "\n": () => "⏎", "\t": () => "⇥", " ": (text) => "·".repeat(text.length) };

const CONTROLS = "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(" ");
const NAMES = new Map<number, string>([
  ...CONTROLS.map((name, at): [number, string] => [at, name]),
  [0x7f, "DEL"], [0x85, "NEL"], [0xad, "SHY"], [0x34f, "CGJ"], [0x61c, "ALM"], [0x200b, "ZWSP"], [0x200c, "ZWNJ"], [0x200d, "ZWJ"],
  [0x200e, "LRM"], [0x200f, "RLM"], [0x2028, "LS"], [0x2029, "PS"], [0x202a, "LRE"], [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"],
  [0x202e, "RLO"], [0x2060, "WJ"], [0x2066, "LRI"], [0x2067, "RLI"], [0x2068, "FSI"], [0x2069, "PDI"], [0xfeff, "BOM"],
]);
/** Characters that one chip names one by one; of more it says how many there are. */
const NAMED = 3;
const LISTED = 12;

/** The name of a character: `RLO`, `VS16`, `U+FFFD`. */
export function nameOf(point: number): string {
  if (point >= 0xfe00 && point <= 0xfe0f) return `VS${point - 0xfe00 + 1}`;
  if (point >= 0xe0100 && point <= 0xe01ef) return `VS${point - 0xe0100 + 17}`;
  return NAMES.get(point) ?? codeOf(point);
}

function codeOf(point: number): string {
  return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

const VISIBLE = /^[\x21-\x7e]+$/;
const VISIBLE_OR_SPACE = /^[\x20-\x7e]+$/;

/** Whether `cut` would give the text as it is, for what is most of all text; `false` says nothing. */
export function isPlain(text: string, { marks = "none" }: CutOptions = {}): boolean {
  return (marks === "all" ? VISIBLE : VISIBLE_OR_SPACE).test(text);
}

/** Cuts a text into what is shown as it is and what is shown by name. Their sources together are the text. */
export function cut(text: string, { marks = "none", chips = 200 }: CutOptions = {}): Run[] {
  const runs: Run[] = [];
  let plain = "";
  let left = chips;
  const flush = () => {
    if (plain !== "") runs.push({ kind: "text", text: plain });
    plain = "";
  };
  let end = 0;
  for (const match of text.matchAll(PARTS[marks])) {
    const source = match[0];
    plain += text.slice(end, match.index);
    end = match.index + source.length;
    const mark = MARKS[source[0]!];
    if (mark) {
      flush();
      runs.push({ kind: "mark", text: mark(source), source });
    } else if (left > 0) {
      flush();
      const named = chipsOf(source);
      left -= named.length;
      runs.push(...named);
    } else {
      plain += chipsOf(source).map((chip) => `‹${chip.text}›`).join("");
    }
  }
  plain += text.slice(end);
  flush();
  return runs;
}

/** Hidden characters that follow one another: each by name, or many as one. */
function chipsOf(source: string): Extract<Run, { kind: "chip" }>[] {
  const points = Array.from(source, (character) => character.codePointAt(0)!);
  const tags = tagText(points);
  if (tags !== undefined) return [{ kind: "chip", text: `TAG "${tags}"`, title: `${points.length} tag characters, unseen, that spell this`, source, isLoud: true }];
  if (points.every((point) => point === points[0])) return [chip(points[0]!, points.length, source)];
  if (points.length <= NAMED) return points.map((point) => chip(point, 1, String.fromCodePoint(point)));
  const list = points.slice(0, LISTED).map(nameOf).join(" ");
  const title = points.length > LISTED ? `${list} …` : list;
  return [{ kind: "chip", text: `${points.length} hidden`, title, source, isLoud: points.some(isLoud) }];
}

function chip(point: number, count: number, source: string): Extract<Run, { kind: "chip" }> {
  const name = nameOf(point);
  const code = codeOf(point);
  return { kind: "chip", text: count > 1 ? `${name} ×${count}` : name, title: name === code ? code : `${name}, ${code}`, source, isLoud: isLoud(point) };
}

/** Whether it moves its neighbours, or carries a text that nobody sees. What joins emoji is met everywhere. */
function isLoud(point: number): boolean {
  return (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x206f) || point >= 0xe0000 || (point < 0xa0 && point !== 0xd);
}

/** Tag characters are a second, unseen ASCII: what they spell, if there is nothing else. */
function tagText(points: number[]): string | undefined {
  if (!points.every((point) => point >= 0xe0020 && point <= 0xe007e)) return undefined;
  const text = String.fromCharCode(...points.slice(0, 40).map((point) => point - 0xe0000));
  return points.length > 40 ? `${text}…` : text;
}

/** As one line without anything hidden, for titles and labels. */
export function plain(text: string, limit = 200, marks: CutOptions["marks"] = "lines"): string {
  const shown = cut(text.slice(0, limit), { marks, chips: 0 }).map((run) => run.text).join("");
  return text.length > limit ? `${shown}…` : shown;
}
