/** Lets those who name the same key go one after the other, and those with several keys take them all or wait. */
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
