/** Limits the number of concurrent requests; later ones wait, first come first served. */
export class Turns {
  readonly #atOnce: number;
  #working = 0;
  readonly #waiting = new Set<() => void>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Waits for a turn; true if it was taken and has to be given back, false when the signal came first. */
  take(signal: AbortSignal): Promise<boolean> {
    if (signal.aborted) return Promise.resolve(false);
    if (this.#working < this.#atOnce) {
      this.#working += 1;
      return Promise.resolve(true);
    }
    return new Promise((resolve) => {
      const leave = () => {
        this.#waiting.delete(begin);
        resolve(false);
      };
      const begin = () => {
        signal.removeEventListener("abort", leave);
        resolve(true);
      };
      this.#waiting.add(begin);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#working -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
