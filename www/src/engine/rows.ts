/** Lines of the list. */
import type { RolloutOverview } from "token2text";
import type { Finding, Row } from "./contract.js";

/** What rollouts are called in links: the same when the file is opened again. */
export class Keys {
  /** Rollouts with one name have numbers. */
  #used = new Map<string, Set<number>>();

  /** @param trace Of a source that is followed: what else is known of a rollout may change as it grows. */
  of(source: string, overview: RolloutOverview, trace?: string): string {
    const { traceId, requestId, experimentName, step, sampleIndex, rolloutN, path } = overview;
    const sample = sampleIndex === undefined && rolloutN === undefined ? undefined : [experimentName, step, sampleIndex, rolloutN].join(",");
    const key = `${source}:${trace ?? ([traceId, requestId].filter(Boolean).join("/") || sample || path)}`;
    const numbers = this.#used.get(key) ?? new Set();
    this.#used.set(key, numbers);
    let number = numbers.size + 1;
    if (numbers.has(number)) for (number = 1; numbers.has(number); ) number++;
    numbers.add(number);
    return number === 1 ? key : `${key}~${number}`;
  }

  /** Its row is gone, or gets its key anew. */
  forget(key: string): void {
    const [, name = key, number = 1] = /^(.*)~(\d+)$/s.exec(key) ?? [];
    this.#used.get(name)?.delete(Number(number));
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
