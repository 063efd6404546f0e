/** The bytes of tokens, asked for as they are needed and then kept. */
import type { ReactiveController, ReactiveControllerHost } from "lit";
import type { Engine } from "../engine/contract.js";

const MOST_KEPT = 20_000;

export class TokenBytes implements ReactiveController {
  private known = new Map<number, Uint8Array>();
  private asked = new Set<number>();
  private rollout: number | undefined;
  /** Counts the answers. */
  version = 0;

  constructor(
    private readonly host: ReactiveControllerHost,
    private readonly source: () => { engine: Engine; rollout: number } | undefined,
  ) {
    host.addController(this);
  }

  hostConnected(): void {}

  /** The bytes, if they are there; otherwise the host is drawn again when they are. Those of an id without a token are none. */
  get(id: number): Uint8Array | undefined {
    const source = this.source();
    if (source?.rollout !== this.rollout) {
      this.known.clear();
      this.asked.clear();
      this.rollout = source?.rollout;
    }
    const bytes = this.known.get(id);
    if (bytes || !source || this.asked.has(id)) return bytes;
    if (this.asked.size === 0) queueMicrotask(() => void this.ask(source));
    this.asked.add(id);
    return undefined;
  }

  private async ask({ engine, rollout }: { engine: Engine; rollout: number }): Promise<void> {
    const ids = Uint32Array.from(this.asked);
    this.asked = new Set();
    const lists = await engine.bytes(rollout, ids).catch(() => []);
    if (rollout !== this.rollout) return;
    if (this.known.size > MOST_KEPT) this.known.clear();
    ids.forEach((id, at) => this.known.set(id, lists[at] ?? new Uint8Array()));
    this.version++;
    this.host.requestUpdate();
  }
}
