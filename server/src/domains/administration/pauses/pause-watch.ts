import type { Clock } from "../../../base/clock.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import type { Pause } from "../../../base/pause.ts";
import type { Database } from "../../../db/connect.ts";
import type { ChannelHandler } from "../../../db/listener.ts";
import { findPause, type KeptPause } from "./store.ts";

/** How often a server looks by itself, so that a lost notification costs no more than this. */
const LOOK_EVERY_MS = 5_000;

/** The pause of the service as this server knows it. */
export class PauseWatch {
  readonly #database: Database;
  readonly #clock: Clock;
  #pause: KeptPause | undefined;
  #firstLook: Promise<void> | undefined;

  constructor(database: Database, clock: Clock) {
    this.#database = database;
    this.#clock = clock;
  }

  readonly channel: ChannelHandler = {
    onMessage: () => void this.look().catch(() => undefined),
    onGap: () => void this.look().catch(() => undefined),
  };

  /** The pause that lasts now. The first call waits for the database; later ones answer from memory. */
  async current(): Promise<Pause | undefined> {
    await (this.#firstLook ??= this.look().catch(() => {
      // A database that does not answer changes nothing either; the next request looks again.
      this.#firstLook = undefined;
    }));
    const pause = this.#pause;
    const now = this.#clock.now();
    return pause !== undefined && pause.startedAt <= now && pause.untilAt > now ? pause : undefined;
  }

  /** Reads the pause that lasts, or the next one, from the database. */
  async look(): Promise<void> {
    this.#pause = await findPause(this.#database.kysely, this.#clock.now());
  }

  loop(): Loop {
    return {
      name: "look-for-pause",
      description: "Looks whether the service is paused, in case a notification was lost.",
      everyMs: LOOK_EVERY_MS,
      run: async () => {
        await this.look();
        return { paused: (await this.current()) === undefined ? 0 : 1 };
      },
    };
  }

  /** The same loop, which does nothing while the service is paused. */
  pausing(loop: Loop): Loop {
    return {
      ...loop,
      run: async () => ((await this.current()) === undefined ? loop.run() : { paused: 1 }),
    };
  }
}
