import type { Row } from "../engine/contract.js";

/** A column of the list. Numbers stand at the end of their cell, texts at its start. */
export interface Column {
  id: string;
  label: string;
  /** What it is, in a sentence. */
  title: string;
  /** Least width in pixels; what is left is shared by columns of text. */
  width: number;
  /** What it is sorted by if it is a number. */
  number?: (row: Row) => number | undefined;
  /** What it is sorted by if it is text. */
  text?: (row: Row) => string | undefined;
  /** Sorted from the greatest first at the first click. */
  greatestFirst?: boolean;
}

/** Errors weigh more than any number of warnings. */
const weight = ({ findings }: Row) => findings && findings.error * 1e8 + findings.warning * 1e4 + findings.info;

export const COLUMNS: readonly Column[] = [
  { id: "step", label: "Step", title: "Step of the training", width: 48, number: (row) => row.step },
  { id: "sample", label: "Sample", title: "Number of the sample in the data", width: 60, number: (row) => row.sampleIndex },
  { id: "n", label: "n", title: "Number of the rollout among those of its sample", width: 32, number: (row) => row.rolloutN },
  {
    id: "reward",
    label: "Reward",
    title: "Reward of the rollout",
    width: 98,
    number: (row) => row.reward,
    greatestFirst: true,
  },
  {
    id: "findings",
    label: "Findings",
    title: "What was found in it: errors, warnings, remarks",
    width: 92,
    number: weight,
    greatestFirst: true,
  },
  { id: "turns", label: "Turns", title: "Answers of the model", width: 50, number: (row) => row.turns, greatestFirst: true },
  {
    id: "tokens",
    label: "Tokens",
    title: "Tokens, those that turns share counted once",
    width: 66,
    number: (row) => row.tokens,
    greatestFirst: true,
  },
  {
    id: "tools",
    label: "Tools",
    title: "Calls of tools by the model",
    width: 50,
    number: (row) => row.toolCalls,
    greatestFirst: true,
  },
  {
    id: "duration",
    label: "Seconds",
    title: "How long it took, in seconds",
    width: 68,
    number: (row) => row.duration,
    greatestFirst: true,
  },
  {
    id: "validate",
    label: "Val.",
    title: "Whether it is a validation",
    width: 44,
    number: (row) => (row.validate === undefined ? undefined : Number(row.validate)),
    greatestFirst: true,
  },
  { id: "model", label: "Model", title: "Name of the model", width: 110, text: (row) => row.model },
  { id: "experiment", label: "Experiment", title: "Name of the experiment", width: 110, text: (row) => row.experimentName },
  { id: "source", label: "Source", title: "Where it was read from", width: 120, text: (row) => row.source },
  {
    id: "id",
    label: "Id",
    title: "Id of the trace or request",
    width: 120,
    text: (row) => row.traceId ?? row.requestId,
  },
];

/** These say something only where they differ from rollout to rollout. */
const WHERE_DIFFERENT = new Set(["model", "experiment", "source", "validate"]);
/** Without these, rollouts are told apart by their id. */
const PLACES = ["step", "sample", "n"];

/** Least and greatest reward of the list: the ends of the colour scale. */
export interface Scale {
  least: number;
  greatest: number;
}

/** Learns, as rows come, which columns have anything to say, and how far rewards go. */
export class ListFacts {
  readonly scale: Scale = { least: Infinity, greatest: -Infinity };
  private readonly first = new Map<string, number | string>();
  private readonly useful = new Set<string>();

  add(rows: readonly Row[]): void {
    for (const { reward } of rows) {
      if (reward === undefined || !Number.isFinite(reward)) continue;
      if (reward < this.scale.least) this.scale.least = reward;
      if (reward > this.scale.greatest) this.scale.greatest = reward;
    }
    for (const column of COLUMNS) {
      if (this.useful.has(column.id)) continue;
      for (const row of rows) {
        const value = (column.number ?? column.text)!(row);
        if (value === undefined) continue;
        const first = this.first.get(column.id);
        if (first === undefined) this.first.set(column.id, value);
        if (WHERE_DIFFERENT.has(column.id) && (first === undefined || first === value)) continue;
        this.useful.add(column.id);
        break;
      }
    }
  }

  columns(): Column[] {
    const hasPlace = PLACES.some((id) => this.useful.has(id));
    return COLUMNS.filter(({ id }) => this.useful.has(id) && (id !== "id" || !hasPlace));
  }
}
