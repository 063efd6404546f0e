import type { Threshold } from "./scale.js";

/** How tokens are drawn. */
export interface TokenSettings {
  /** `segment`, or the name of a per-token number. */
  colour: string;
  boundaries: boolean;
  spaces: boolean;
  ids: boolean;
  threshold?: Threshold;
}

export class SettingsEvent extends Event {
  constructor(readonly change: Partial<TokenSettings>) {
    super("t2t-settings");
  }
}

/** As they were set last: they outlive a rollout and a tab. */
let last: TokenSettings = { colour: "segment", boundaries: true, spaces: false, ids: false };

export function lastSettings(): TokenSettings {
  return last;
}

export function keepSettings(settings: TokenSettings): TokenSettings {
  return (last = settings);
}
