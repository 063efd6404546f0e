/** Lines of the list. */
import type { RolloutOverview } from "token2text";
import type { Finding, Row } from "./contract.js";

/** What rollouts are called in links: the same when the file is opened again. */
export class Keys {
  #used = new Map<string, number>();

  of(source: string, overview: RolloutOverview): string {
    const { traceId, requestId, experimentName, step, sampleIndex, rolloutN, path } = overview;
    const sample = sampleIndex === undefined && rolloutN === undefined ? undefined : [experimentName, step, sampleIndex, rolloutN].join(",");
    const key = `${source}:${[traceId, requestId].filter(Boolean).join("/") || sample || path}`;
    const count = (this.#used.get(key) ?? 0) + 1;
    this.#used.set(key, count);
    return count === 1 ? key : `${key}~${count}`;
  }

  /** Its row is gone. */
  forget(key: string): void {
    this.#used.delete(key.replace(/~\d+$/, ""));
  }
}

export function rowOf(at: number, source: string, key: string, overview: RolloutOverview): Row {
  const { startUnixNano, endUnixNano, path: _1, calls: _2, ...facts } = overview;
  return { at, key, source, ...facts, start: startUnixNano === undefined ? undefined : Number(startUnixNano), duration: seconds(startUnixNano, endUnixNano) };
}

/** Between two times in nanoseconds, which are more than a number can hold. */
export function seconds(from: string | undefined, to: string | undefined): number | undefined {
  return from === undefined || to === undefined ? undefined : Number(BigInt(to) - BigInt(from)) / 1e9;
}

export function countLevels(findings: readonly Finding[]): Required<Row>["findings"] {
  const counts = { info: 0, warning: 0, error: 0 };
  for (const { level } of findings) counts[level]++;
  return counts;
}
