import type { Row } from "../engine/contract.js";

/** Which rollouts the list shows. What is empty or absent lets everything through. */
export interface Filter {
  /** Words that must all stand in what is known of a rollout; `step 41`, `sample 3`, `rollout 0`, `turns 2` mean just that. */
  text: string;
  rewardFrom?: number;
  rewardTo?: number;
  /** Steps: `41`, or `40-45`. */
  step: string;
  validate?: boolean;
  /** Only those with findings of this level or a worse one. */
  findings?: "info" | "warning" | "error";
}

export const EVERYTHING: Filter = { text: "", step: "" };

export const isEverything = (filter: Filter): boolean =>
  Object.values(filter).every((value) => value === undefined || (typeof value === "string" && value.trim() === ""));

/** What may be named with its number: `step 41 rollout 3`. Other words are looked for in all that is known of a rollout. */
const NUMBERS: Record<string, (row: Row) => number | undefined> = {
  step: (row) => row.step,
  sample: (row) => row.sampleIndex,
  rollout: (row) => row.rolloutN,
  turns: (row) => row.turns,
};

/** A test of rows, or none if all of them pass. */
export function matcher(filter: Filter): ((row: Row) => boolean) | undefined {
  const tests: ((row: Row) => boolean)[] = [];
  const { rewardFrom, rewardTo, validate, findings } = filter;
  const steps = /^\s*(\d+)\s*(?:(?:-|–|to)\s*(\d+)\s*)?$/.exec(filter.step);
  if (steps) {
    const from = Number(steps[1]);
    const to = Number(steps[2] ?? from);
    tests.push(({ step }) => step !== undefined && step >= from && step <= to);
  }
  if (rewardFrom !== undefined) tests.push(({ reward }) => reward !== undefined && reward >= rewardFrom);
  if (rewardTo !== undefined) tests.push(({ reward }) => reward !== undefined && reward <= rewardTo);
  if (validate !== undefined) tests.push((row) => (row.validate ?? false) === validate);
  if (findings) tests.push((row) => countFrom(row, findings) > 0);
  let text = filter.text.toLowerCase();
  for (const [name, number] of Object.entries(NUMBERS)) {
    text = text.replace(new RegExp(`(?<!\\S)${name}[\\s:=]*(\\d+)(?!\\S)`), (_, digits: string) => {
      tests.push((row) => number(row) === Number(digits));
      return "";
    });
  }
  const words = text.split(/\s+/).filter(Boolean);
  if (words.length > 0) {
    tests.push((row) => {
      const facts = factsOf(row);
      return words.every((word) => facts.includes(word));
    });
  }
  return tests.length > 0 ? (row) => tests.every((test) => test(row)) : undefined;
}

/** Findings of a level or a worse one. */
function countFrom({ findings }: Row, level: "info" | "warning" | "error"): number {
  if (!findings) return 0;
  const { info, warning, error } = findings;
  return error + (level === "error" ? 0 : warning) + (level === "info" ? info : 0);
}

const kept = new WeakMap<Row, string>();

/** What the words of a filter are looked for in. */
function factsOf(row: Row): string {
  let facts = kept.get(row);
  if (facts !== undefined) return facts;
  const { step, sampleIndex, rolloutN, validate, experimentName, model, traceId, requestId, source, findings } = row;
  facts = [
    step !== undefined && `step ${step}`,
    sampleIndex !== undefined && `sample ${sampleIndex}`,
    rolloutN !== undefined && `rollout ${rolloutN}`,
    validate && "validate",
    experimentName,
    model,
    traceId,
    requestId,
    source,
    findings?.error && "error",
    findings?.warning && "warning",
  ]
    .filter(Boolean)
    .join("\n")
    .toLowerCase();
  kept.set(row, facts);
  return facts;
}
