/** Text for the screen: special tokens stand out, and so does what is searched for. */
import { make } from "./dom";

export type TextMarker = (text: string, query: string) => DocumentFragment;

/** Makes the function that marks these special tokens. */
export function textMarker(specialTokens: string[]): TextMarker {
  const contents = specialTokens.filter((content) => content.trim() !== "").sort((a, b) => b.length - a.length);
  const pattern = contents.length > 0 ? new RegExp(`(${contents.map(escape).join("|")})`, "g") : undefined;
  return (text, query) => {
    const fragment = document.createDocumentFragment();
    const parts = pattern ? text.split(pattern) : [text];
    parts.forEach((part, i) => {
      if (part === "") return;
      if (i % 2 === 1) fragment.append(make("span", "special", ...highlight(part, query)));
      else fragment.append(...highlight(part, query));
    });
    return fragment;
  };
}

/** The text with each occurrence of the query in a `<mark>`; the query is in lower case. */
function highlight(text: string, query: string): (Node | string)[] {
  if (query === "") return [text];
  const pattern = new RegExp(`(${escape(query)})`, "giu");
  return text.split(pattern).map((part, i) => (i % 2 === 1 ? make("mark", "", part) : part));
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
