import type { Server } from "node:http";
import type { TestContext } from "node:test";

/** Closes a server with its connections after the test. */
export function closing(t: Pick<TestContext, "after">, server: Server): void {
  t.after(async () => {
    const closed = new Promise((resolve) => server.close(resolve));
    server.closeAllConnections();
    await closed;
  });
}

/** Work after the last test of a group, whose tests share an app. */
export class Cleanups {
  readonly #work: (() => unknown)[] = [];

  after(work: () => unknown): void {
    this.#work.push(work);
  }

  /** Does all of it, in the order in which it was added, and throws the first error of it. */
  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (const work of this.#work.splice(0)) {
      try {
        await work();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
