/** Numbers beside tokens as steps of a scale of colours, and the tokens beyond a threshold. */

/** Steps of the scale from low to high; of one with a middle, half of them on either side. */
export const STEPS = 15;
const MIDDLE = (STEPS - 1) / 2;
/** Quantiles are taken from so many values at most, evenly spread. */
const SAMPLE = 20_000;

export interface Scale {
  /** `diverging` about zero for numbers of both signs. */
  kind: "sequential" | "diverging";
  /** What the ends of the scale stand for; values beyond them have the colours of the ends. */
  low: number;
  high: number;
  /** Least and greatest of all. */
  least: number;
  greatest: number;
  /** Which end is the one to look at: of log-probabilities the low one. */
  notable: "low" | "high";
  /** How many tokens have a number. */
  count: number;
}

/** Values at the given shares of the sorted sample of finite values. */
export function quantiles(values: Float32Array, shares: readonly number[]): number[] {
  const step = Math.max(1, Math.floor(values.length / SAMPLE));
  let sample = values.filter((value, at) => at % step === 0 && Number.isFinite(value));
  // Numbers that stand beside few of the tokens are not to be missed.
  if (sample.length < SAMPLE / 100 && step > 1) sample = values.filter(Number.isFinite);
  sample.sort();
  return shares.map((share) => (sample.length === 0 ? NaN : sample[Math.min(sample.length - 1, Math.floor(share * sample.length))]!));
}

export function scaleOf(name: string, values: Float32Array): Scale | undefined {
  let [least, greatest, count] = [Infinity, -Infinity, 0];
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    count++;
    if (value < least) least = value;
    if (value > greatest) greatest = value;
  }
  if (count === 0) return undefined;
  const [low, high] = quantiles(values, [0.01, 0.99]) as [number, number];
  const notable = /log_?p/i.test(name) ? "low" : "high";
  if (notable === "high" && least < 0 && greatest > 0) {
    const bound = Math.max(-low, high) || Math.max(-least, greatest);
    return { kind: "diverging", low: -bound, high: bound, least, greatest, notable, count };
  }
  return low < high ? { kind: "sequential", low, high, least, greatest, notable, count } : { kind: "sequential", low: least, high: greatest, least, greatest, notable, count };
}

/** The step of a value, or -1 if it is none. The last step of a sequential scale is at its notable end. */
export function stepOf(scale: Scale, value: number): number {
  if (!Number.isFinite(value)) return -1;
  const span = scale.high - scale.low;
  const share = span > 0 ? Math.min(1, Math.max(0, (value - scale.low) / span)) : 0.5;
  if (scale.kind === "diverging") return MIDDLE + Math.round((share - 0.5) * 2 * MIDDLE);
  return Math.round((scale.notable === "low" ? 1 - share : share) * (STEPS - 1));
}

export interface Threshold {
  side: "below" | "above";
  value: number;
}

export function isBeyond({ side, value }: Threshold, number: number): boolean {
  return side === "below" ? number < value : number > value;
}

export function countBeyond(threshold: Threshold, values: Float32Array): number {
  let count = 0;
  for (const value of values) if (isBeyond(threshold, value)) count++;
  return count;
}

/** The next token beyond the threshold behind `from` (or before it, with `step` -1), around the end; -1 if there is none. */
export function nextBeyond(threshold: Threshold, values: Float32Array, from: number, step: 1 | -1 = 1): number {
  const count = values.length;
  for (let moved = 1; moved <= count; moved++) {
    const at = (((from + step * moved) % count) + count) % count;
    if (isBeyond(threshold, values[at]!)) return at;
  }
  return -1;
}

/** With as many digits as tell one from the next. */
export function numberText(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size < 1e-9) return "0";
  if (size < 0.001 || size >= 1e6) return value.toExponential(2).replace("-", "−").replace("e−", "e-");
  return value.toFixed(size >= 100 ? 1 : size >= 10 ? 2 : 3).replace("-", "−");
}
