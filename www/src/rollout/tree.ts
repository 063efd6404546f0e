import type { RolloutDetail } from "../engine/contract.js";
import type { Call } from "./calls.js";

/** A call, or a span that is none: a tool. */
export interface TreeRow {
  call?: number;
  span?: number;
  depth: number;
  /** Whether others stand below it. */
  hasChildren: boolean;
}

/** The calls as `callTree` has them, and between them the spans of tools, each where it stands in the trace. */
export function treeOf({ rollout: { calls }, spans }: Pick<RolloutDetail, "rollout" | "spans">): TreeRow[] {
  const rows = callTree(calls);
  const parents = new Set(spans.map(({ parentId }) => parentId));
  const byId = new Map(spans.map(({ spanId }, at) => [spanId, at]));
  const spanOf = new Map(spans.flatMap(({ calls }, at) => calls.map((call): [number, number] => [call, at])));
  const tools = spans.flatMap(({ spanId, calls }, at) => (calls.length === 0 && !parents.has(spanId) ? [at] : []));
  if (tools.length === 0) return rows;
  const depths = new Map(rows.map(({ call, depth }) => [call!, depth]));
  /** How deep a tool stands: below the call whose span is around it. */
  const depthOf = (tool: number): number => {
    const seen = new Set<number>();
    for (let at = byId.get(spans[tool]!.parentId ?? ""); at !== undefined && !seen.has(at); at = byId.get(spans[at]!.parentId ?? "")) {
      seen.add(at);
      const [call] = spans[at]!.calls;
      if (call !== undefined) return (depths.get(call) ?? 0) + 1;
    }
    return 0;
  };
  const merged: TreeRow[] = [];
  let next = 0;
  for (const row of rows) {
    const place = spanOf.get(row.call!) ?? -1;
    while (next < tools.length && tools[next]! < place) merged.push({ span: tools[next]!, depth: depthOf(tools[next++]!), hasChildren: false });
    merged.push(row);
  }
  while (next < tools.length) merged.push({ span: tools[next]!, depth: depthOf(tools[next++]!), hasChildren: false });
  return merged;
}

/**
 * The calls as a tree: parts stand below what they are a part of, and where several calls go on from the same one, all but the
 * first are set in. A conversation without branches is a list.
 */
function callTree(calls: readonly Call[]): TreeRow[] {
  const parts = new Map<number | undefined, number[]>();
  const next = new Map<number, number[]>();
  calls.forEach(({ parent, partOf }, call) => {
    const whole = partOf !== undefined && partOf !== call && calls[partOf] ? partOf : undefined;
    const goesOn = parent !== undefined && parent !== call && calls[parent]?.partOf === partOf ? parent : undefined;
    if (goesOn !== undefined) next.set(goesOn, [...(next.get(goesOn) ?? []), call]);
    else parts.set(whole, [...(parts.get(whole) ?? []), call]);
  });
  const rows: TreeRow[] = [];
  const seen = new Set<number>();
  // Not by recursion: a conversation may have thousands of turns. The last one on the stack is the next one.
  const stack: { call: number; depth: number }[] = [];
  const push = (list: readonly number[], depth: number) => {
    for (const call of list.toReversed()) stack.push({ call, depth });
  };
  push(parts.get(undefined) ?? [], 0);
  for (let top = stack.pop(); top; top = stack.pop()) {
    const { call, depth } = top;
    if (seen.has(call)) continue;
    seen.add(call);
    const below = parts.get(call) ?? [];
    const [first, ...branches] = next.get(call) ?? [];
    rows.push({ call, depth, hasChildren: below.length + branches.length > 0 });
    if (first !== undefined) push([first], depth);
    push(branches, depth + 1);
    push(below, depth + 1);
  }
  // Calls that name one another in a circle have no place in the tree.
  calls.forEach((_, call) => {
    if (!seen.has(call)) rows.push({ call, depth: 0, hasChildren: false });
  });
  return rows;
}
