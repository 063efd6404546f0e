/**
 * Which items of two lists have no partner in the other: those outside of a longest common subsequence. For short lists.
 *
 * @param isCut Whether the lists go on: then of what follows the last pair nothing is known, and it is not marked.
 */
export function differences(one: readonly number[], other: readonly number[], isCut = false): { one: boolean[]; other: boolean[] } {
  /** Length of the longest one of what follows both positions. */
  const common = Array.from({ length: one.length + 1 }, () => new Uint32Array(other.length + 1));
  for (let i = one.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      common[i]![j] = one[i] === other[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const marks = { one: one.map(() => true), other: other.map(() => true) };
  for (let i = 0, j = 0; i < one.length && j < other.length; ) {
    if (one[i] === other[j]) marks.one[i++] = marks.other[j++] = false;
    else if (common[i + 1]![j]! >= common[i]![j + 1]!) i++;
    else j++;
  }
  if (isCut) {
    for (const side of [marks.one, marks.other]) {
      const last = side.lastIndexOf(false);
      if (last >= 0) side.fill(false, last);
    }
  }
  return marks;
}
