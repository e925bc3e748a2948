import type { Clock } from "../../../../base/clock.ts";
import type { Log } from "../../../../base/log.ts";
import type { LogFollower } from "./log-follower.ts";

const SWEEP_MS = 3_000;
/** Looks between two signs of life. */
const LOOKS_PER_SIGN = 5;

/** The logs that are followed at this server, with looks at whether their readers may go on. */
export class OpenFollowers {
  readonly #open = new Set<LogFollower>();
  readonly #clock: Clock;
  readonly #log: Log;
  #stopSweeping: (() => void) | undefined;
  #isSweeping = false;
  #isClosing = false;
  #lookCount = 0;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Watches a follower until its answer is over. */
  add(follower: LogFollower): void {
    if (this.#isClosing) return follower.end();
    this.#open.add(follower);
    follower.output.once("close", () => {
      this.#open.delete(follower);
      if (this.#open.size > 0) return;
      this.#stopSweeping?.();
      this.#stopSweeping = undefined;
    });
    this.#stopSweeping ??= this.#clock.every(SWEEP_MS, () => void this.#sweep());
  }

  close(): void {
    this.#isClosing = true;
    for (const follower of this.#open) follower.end();
  }

  async #sweep(): Promise<void> {
    if (this.#isSweeping) return;
    this.#isSweeping = true;
    this.#lookCount += 1;
    const isSignDue = this.#lookCount % LOOKS_PER_SIGN === 0;
    try {
      await Promise.all([...this.#open].map((follower) => this.#look(follower, isSignDue)));
    } finally {
      this.#isSweeping = false;
    }
  }

  async #look(follower: LogFollower, isSignDue: boolean): Promise<void> {
    try {
      if (!(await follower.mayStay())) return follower.end();
    } catch (error) {
      // While the database does not answer nobody knows better; the next look asks again.
      this.#log.warn({ err: error }, "looking at a followed log failed");
    }
    if (isSignDue) follower.showLife();
  }
}
