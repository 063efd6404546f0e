/** One record as the reader sees it. */
import type { ShownField, ShownRecord } from "./decode";
import { make, plural } from "./dom";
import type { TextMarker } from "./special";

/** A text taller than this many lines or longer than this starts folded. */
const FOLD_LINES = 14;
const FOLD_CHARS = 1400;
const MAX_IDS_SHOWN = 5000;

export function renderRecord(record: ShownRecord, mark: TextMarker, query: string): HTMLElement {
  const title = make("h2", "", make("span", "number", `${record.number}`), make("span", "", mark(record.name, query)));
  const head = make("header", "", title);
  if (record.attributes.length > 0) head.append(renderAttributes(record.attributes));
  const article = make("article", "record", head);
  if (record.error) article.append(make("p", "notice", `Copied unchanged: ${record.error}`));
  else if (record.fields.length === 0) article.append(make("p", "quiet", "No token ids in this record."));
  article.append(...record.fields.map((field) => renderField(field, record, mark, query)));
  return article;
}

function renderAttributes(attributes: [string, string][]): HTMLElement {
  return make("ul", "attributes", ...attributes.map(([key, value]) => {
    return make("li", "", make("span", "key", key.replaceAll("_", " ")), ` ${value}`);
  }));
}

function renderField(field: ShownField, record: ShownRecord, mark: TextMarker, query: string): HTMLElement {
  const label = field.kind === "prompt" ? "Prompt" : "Response";
  const meta = make("p", "meta", make("strong", "", label), make("span", "", plural(field.count, "id")));
  if (field.layout !== "verl") meta.append(make("span", "", field.layout));
  if (field.status === "kept") meta.append(make("span", "badge", "text was already there"));
  if (field.unknown > 0) meta.append(make("span", "badge warn", `${plural(field.unknown, "unknown id")} left out`));
  const section = make("section", `field ${field.kind} ${field.status}`, meta);
  if (field.status === "skipped") {
    section.append(make("p", "notice", `Skipped: ${field.reason ?? "no reason given"} `, make("code", "", field.path)));
  }
  for (const text of field.texts) section.append(...renderText(text, label, mark, query));
  if (field.status !== "skipped") section.append(renderIds(field, record));
  return section;
}

function renderText(text: string, label: string, mark: TextMarker, query: string): HTMLElement[] {
  if (text === "") return [make("p", "quiet", "empty text")];
  const block = make("pre", "text", mark(text, query));
  const isLong = text.length > FOLD_CHARS || text.split("\n").length > FOLD_LINES;
  if (!isLong || query !== "") return [block];
  block.classList.add("folded");
  const button = make("button", "fold", "Show all");
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  button.setAttribute("aria-label", `Show all of this ${label.toLowerCase()}`);
  button.addEventListener("click", () => {
    const isFolded = block.classList.toggle("folded");
    button.textContent = isFolded ? "Show all" : "Show less";
    button.setAttribute("aria-expanded", String(!isFolded));
  });
  return [block, button];
}

/** The ids are read from the file only when somebody opens them. */
function renderIds(field: ShownField, record: ShownRecord): HTMLElement {
  const details = make("details", "ids", make("summary", "", "Token ids"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    details.append(make("p", "", make("code", "path", field.path)), make("pre", "", idsText(record.ids(field.path))));
  });
  return details;
}

function idsText(ids: unknown): string {
  if (!Array.isArray(ids)) return ids === undefined ? "not readable here; see the file" : String(ids).slice(0, 40_000);
  const shown = ids.flat().slice(0, MAX_IDS_SHOWN).join(" ");
  return ids.length > MAX_IDS_SHOWN ? `${shown} ... and ${(ids.length - MAX_IDS_SHOWN).toLocaleString("en")} more` : shown;
}
