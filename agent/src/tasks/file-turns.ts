/** Runs work on the same key one after the other; work on several keys waits until all of them are free. */
export class FileTurns {
  readonly #last = new Map<number, Promise<void>>();

  async take<T>(keys: readonly number[], work: () => Promise<T>): Promise<T> {
    // All keys are queued for in one go, so two takers never wait for each other.
    const before = keys.map((key) => this.#last.get(key) ?? Promise.resolve());
    let finish: () => void = () => undefined;
    const mine = new Promise<void>((resolve) => {
      finish = resolve;
    });
    for (const key of keys) this.#last.set(key, mine);
    await Promise.all(before);
    try {
      return await work();
    } finally {
      for (const key of keys) if (this.#last.get(key) === mine) this.#last.delete(key);
      finish();
    }
  }
}
