import type { Problem, Totals } from "./decode";
import { make } from "./dom";

export function showTotals(list: HTMLElement, totals: Totals): void {
  const rows: [string, number, boolean][] = [
    ["records", totals.records, true],
    ["prompts", totals.prompts, true],
    ["responses", totals.responses, true],
    ["token ids", totals.ids, true],
    ["already had text", totals.kept, false],
    ["unknown ids", totals.unknown, false],
    ["skipped", totals.skipped, false],
  ];
  list.replaceChildren(
    ...rows
      .filter(([, count, always]) => always || count > 0)
      .map(([label, count]) => make("div", "", make("dt", "", label), make("dd", "", count.toLocaleString("en")))),
  );
}

export function showProblems(place: HTMLElement, problems: Problem[]): void {
  place.replaceChildren();
  if (problems.length === 0) return;
  const items = problems.map(({ what, count, example }) => {
    const where = count > 1 ? `(${count} times, first in ${example})` : `(${example})`;
    return make("li", "", `${what} `, make("span", "example", where));
  });
  place.append(make("div", "problems", make("h2", "", "Not decoded"), make("ul", "", ...items)));
}
