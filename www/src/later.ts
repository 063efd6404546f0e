/** What is drawn of a rollout: fetched when the first screen is there, since nobody waits for it before rollouts are open. */
let fetching: Promise<unknown> | undefined;

/** Defines the elements; after a failure the next call tries again. */
export function fetchLater(): Promise<unknown> {
  fetching ??= Promise.all([import("./rollout/rollout-view.js"), import("./siblings/siblings.js")]).catch((error: unknown) => {
    fetching = undefined;
    throw error;
  });
  return fetching;
}
