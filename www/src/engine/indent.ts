/** JSON made readable. It is not parsed: numbers of any size, and Python's names for what is no finite number, keep their text. */

const STEP = "  ";
/** Lists of numbers fill lines up to this width. */
const WIDTH = 100;
const TOKEN = /"(?:[^"\\]|\\.)*"?|[[\]{}:,]|[^\s"[\]{}:,]+/gs;

/** Indents JSON text. What is no JSON comes out as it is, in some shape. */
export function indentJson(text: string): string {
  const out: string[] = [];
  /** For each open bracket whether it holds values without members of their own, which stand in lines. */
  const fills: boolean[] = [];
  const tokens = text.match(TOKEN) ?? [];
  let column = 0;
  const put = (part: string) => {
    out.push(part);
    column += part.length;
  };
  const feed = () => {
    const margin = STEP.repeat(fills.length);
    out.push("\n", margin);
    column = margin.length;
  };
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i];
    if (token === "{" || token === "[") {
      put(token);
      if (closes(tokens[i + 1])) put(tokens[++i]);
      else {
        fills.push(token === "[" && isPlainList(tokens, i));
        feed();
      }
    } else if (closes(token)) {
      fills.pop();
      feed();
      put(token);
    } else if (token === ",") {
      put(token);
      const next = tokens[i + 1]?.length ?? 0;
      if (fills.at(-1) && column + next + 2 <= WIDTH) put(" ");
      else feed();
    } else put(token === ":" ? ": " : token);
  }
  return out.join("");
}

function closes(token: string | undefined): boolean {
  return token === "}" || token === "]";
}

/** Whether the list that begins there holds numbers, or names, alone. */
function isPlainList(tokens: string[], start: number): boolean {
  for (let i = start + 1; i < tokens.length; i++) {
    if (tokens[i] === "]") return true;
    if (tokens[i] !== "," && !/^[-\w.+]+$/.test(tokens[i])) return false;
  }
  return false;
}
