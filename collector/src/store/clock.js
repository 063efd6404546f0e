/** The time that stored bodies have. It never goes back, so that what came later is never older, whatever is done to the machine's clock. */

/**
 * @param {number} newest The time of the newest body, in milliseconds since 1970; 0: there is none.
 * @param {{ wall: () => number, steady: () => number }} [clocks] `steady`: one that nobody sets, in milliseconds.
 * @returns {() => number} Whole milliseconds since 1970.
 */
export function createClock(newest, { wall, steady } = { wall: Date.now, steady: () => performance.now() }) {
  const start = Math.max(wall(), newest) - steady();
  return () => Math.floor(start + steady());
}
