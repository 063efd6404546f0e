/** Milliseconds that work may go on before the page gets its turn: well under the 50 that a person notices. */
const SLICE = 10;

/** For loops over much: `if (pace.isDue()) await pace.rest();` */
export class Pace {
  private started = performance.now();

  isDue(): boolean {
    return performance.now() - this.started > SLICE;
  }

  /** Lets the page draw and hear. */
  async rest(): Promise<void> {
    await new Promise<void>((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => {
        port1.close();
        resolve();
      };
      port2.postMessage(null);
    });
    this.started = performance.now();
  }
}
