import { html, nothing } from "lit";
import type { Row } from "../engine/contract.js";
import { SelectEvent } from "../selection.js";
import { plain } from "../text/safe-text.js";
import type { Group } from "./arrange.js";
import { formatReward } from "./cells.js";

/** Where rollouts of a sample are: `step 41, sample 3`. */
export function placeOf({ step, sampleIndex, rolloutN, experimentName, traceId, requestId, validate }: Row, withRollout = false): string {
  const parts = [
    step !== undefined && `step ${step}`,
    sampleIndex !== undefined && `sample ${sampleIndex}`,
    withRollout && rolloutN !== undefined && `rollout ${rolloutN}`,
    validate && "validation",
  ].filter(Boolean);
  return parts.length > 0 ? parts.join(", ") : plain(traceId ?? requestId ?? experimentName ?? "no step and no sample", 60);
}

/** The head of the rollouts of one sample. */
export function groupLine(rows: readonly Row[], group: Group, { line, active }: { line: number; active: string }) {
  const first = rows[group.first];
  if (!first) return nothing;
  const compare = (event: Event) => event.target!.dispatchEvent(new SelectEvent({ rollout: first.key, siblings: true }));
  return html`<div id="line-${line}" class="row group ${active}" role="row" aria-rowindex=${line + 2} data-line=${line}>
    <div role="gridcell">
      <span>${placeOf(first)}</span>
      <span class="soft"
        >${group.count} ${group.count === 1 ? "rollout" : "rollouts"}${group.reward
          ? `, reward ${formatReward(group.reward.mean)} ± ${formatReward(group.reward.deviation)}`
          : nothing}</span
      >
      ${group.count > 1 && first.sampleIndex !== undefined
        ? html`<button type="button" tabindex="-1" @click=${compare}>Compare</button>`
        : nothing}
    </div>
  </div>`;
}
