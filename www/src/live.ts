/** Sources that are followed: how it goes with each, and whether they are asked at all. The engine asks them. */
import type { Engine, Following } from "./engine/contract.js";

export interface Followed extends Following {
  /** When it is asked again, in milliseconds since 1970. */
  retryAt?: number;
  /** Whether it was lost until a moment ago. */
  isBack?: boolean;
}

/** Milliseconds for which it is said that a source is back. */
const BACK_MILLIS = 5000;

export class Live {
  sources: Followed[] = [];
  isPaused = false;
  private isSeen = true;
  /** Of the next change that is only a matter of time. */
  private timer?: ReturnType<typeof setTimeout>;

  constructor(
    private readonly engine: Pick<Engine, "follow">,
    private readonly changed: () => void,
  ) {}

  get isLost(): boolean {
    return this.sources.some(({ state }) => state === "lost");
  }

  clear(): void {
    this.sources = [];
    clearTimeout(this.timer);
  }

  tell(following: Following): void {
    const { source, state, retryMillis } = following;
    const before = this.sources.find((other) => other.source === source);
    const followed: Followed = {
      ...following,
      retryAt: retryMillis === undefined ? undefined : Date.now() + retryMillis,
      isBack: state === "live" && (before?.state === "lost" || before?.isBack),
    };
    this.sources = before ? this.sources.map((other) => (other === before ? followed : other)) : [...this.sources, followed];
    if (followed.isBack && before?.state === "lost") setTimeout(() => this.settle(source), BACK_MILLIS);
    this.draw();
  }

  /** Stops asking, until it is called again. */
  pause(isPaused: boolean): void {
    this.isPaused = isPaused;
    this.follow();
    this.draw();
  }

  /** Nobody is asked while nobody looks. */
  see(isSeen: boolean): void {
    if (isSeen === this.isSeen) return;
    this.isSeen = isSeen;
    this.follow();
  }

  /** Asks what was lost at once. */
  retry(): void {
    this.follow();
  }

  private follow(): void {
    void this.engine.follow(this.isSeen && !this.isPaused).catch(() => {});
  }

  private settle(source: string): void {
    this.sources = this.sources.map((other) => (other.source === source ? { ...other, isBack: false } : other));
    this.draw();
  }

  /** Seconds until the next try are counted. */
  private draw(): void {
    clearTimeout(this.timer);
    if (this.isLost && !this.isPaused) this.timer = setTimeout(() => this.draw(), 1000);
    this.changed();
  }
}
