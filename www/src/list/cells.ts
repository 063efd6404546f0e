import { html, nothing, type TemplateResult } from "lit";
import type { Row } from "../engine/contract.js";
import { styles } from "../styles.js";
import { plain } from "../text/safe-text.js";
import type { Column, Scale } from "./columns.js";

type Content = string | TemplateResult | typeof nothing;

const CELLS: Record<string, (row: Row, scale: Scale) => Content> = {
  reward: ({ reward }, scale) => (reward === undefined ? nothing : rewardCell(reward, scale)),
  findings: ({ findings }) => findingsCell(findings),
  duration: ({ duration }) => (duration === undefined ? nothing : duration.toFixed(duration < 10 ? 2 : 1)),
  validate: ({ validate }) => (validate ? "yes" : nothing),
};

/** What stands in a cell. */
export function cell(column: Column, row: Row, scale: Scale): Content {
  const own = CELLS[column.id];
  if (own) return own(row, scale);
  if (column.text) return plain(column.text(row) ?? "", 120);
  const value = column.number!(row);
  return value === undefined ? nothing : formatCount(value, column.id);
}

/** Numbers of things that were counted have separators; numbers that are names have none. */
const NAMES = new Set(["step", "sample", "n"]);
const COUNT = new Intl.NumberFormat("en");
const formatCount = (value: number, id: string) => (NAMES.has(id) ? String(value) : COUNT.format(value));

/** Three digits are enough to compare by. */
export function formatReward(reward: number): string {
  if (Number.isInteger(reward) && Math.abs(reward) < 1e6) return String(reward);
  const size = Math.abs(reward);
  return size >= 1e5 || size < 1e-3 ? reward.toExponential(1) : reward.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}

/** The number, and a bar from orange (the least in the list) to blue (the greatest). */
export function rewardCell(reward: number, { least, greatest }: Scale): TemplateResult {
  const share = greatest > least ? (reward - least) / (greatest - least) : 1;
  return html`<span>${formatReward(reward)}</span
    ><i class="reward-bar" ${styles({ "--share": Math.min(1, Math.max(0, share)).toFixed(3) })}></i>`;
}

const LEVELS = [
  { level: "error", sign: "●", one: "error", many: "errors" },
  { level: "warning", sign: "▲", one: "warning", many: "warnings" },
  { level: "info", sign: "○", one: "remark", many: "remarks" },
] as const;

/** Signs differ in form too, so that nobody needs their colours. Nothing stands there until it was looked at. */
export function findingsCell(findings: Row["findings"]): Content {
  if (!findings) return nothing;
  const some = LEVELS.filter(({ level }) => findings[level] > 0);
  if (some.length === 0) return html`<span class="faint" title="Nothing was found">–</span>`;
  return html`${some.map(({ level, sign, one, many }) => {
    const count = findings[level];
    const words = `${count} ${count === 1 ? one : many}`;
    return html`<span class="found ${level}" role="img" aria-label=${words} title=${words}>${sign}${count}</span>`;
  })}`;
}
