import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { ChannelHandler } from "./listener.ts";

/** Keys that one set of statements reads, whose rows are applied between two requests. */
const KEYS_PER_READ = 250;
const RETRY_MS = 500;

export type MirrorDependencies<Key> = {
  readonly clock: Clock;
  readonly log: Log;
  /** The name of the mirrored rows in a log line. */
  readonly name: string;
  /** All keys in the database, and all keys in memory. */
  readonly listAll: () => Promise<Iterable<Key>>;
  /** Reads the present rows of these keys into memory. */
  readonly read: (keys: readonly Key[]) => Promise<void>;
};

/** Keeps a copy of rows in memory current by notifications that name what changed. PostgreSQL stays the truth. */
export class Mirror<Key extends number> {
  readonly #dependencies: MirrorDependencies<Key>;
  readonly #stale = new Set<Key>();
  readonly #stopping = new AbortController();
  #isAllStale = false;
  #refreshing: Promise<void> | undefined;

  constructor(dependencies: MirrorDependencies<Key>) {
    this.#dependencies = dependencies;
  }

  /** The handler of a channel whose payload lists keys. */
  get channel(): ChannelHandler {
    return {
      onMessage: (payload) => {
        // A payload is a list of ids: they are looked up, and used for nothing else.
        for (const key of payload.split(",")) this.#stale.add(Number(key) as Key);
        this.#refreshSoon();
      },
      onGap: () => {
        this.#isAllStale = true;
        this.#refreshSoon();
      },
    };
  }

  /** Reads all rows again. */
  async load(): Promise<void> {
    this.#isAllStale = true;
    this.#refreshSoon();
    await this.settled();
  }

  /** Resolves when every change announced so far is visible. */
  async settled(): Promise<void> {
    while (this.#refreshing !== undefined) await this.#refreshing;
  }

  /** Reads nothing more, and waits for what is being read: the database is about to be closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#refreshing;
  }

  #refreshSoon(): void {
    if (this.#stopping.signal.aborted) return;
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = undefined;
      // Something may have become stale since the last look.
      if (this.#isAllStale || this.#stale.size > 0) this.#refreshSoon();
    });
  }

  async #refresh(): Promise<void> {
    const { clock, log, name } = this.#dependencies;
    while (!this.#stopping.signal.aborted && (this.#isAllStale || this.#stale.size > 0)) {
      try {
        if (this.#isAllStale) await this.#markAll();
        await this.#readSome();
      } catch (error) {
        log.error({ err: error }, `${name} could not be read; what is shown may be old`);
        await clock.sleep(RETRY_MS, this.#stopping.signal);
      }
    }
  }

  async #markAll(): Promise<void> {
    this.#isAllStale = false;
    try {
      for (const key of await this.#dependencies.listAll()) this.#stale.add(key);
    } catch (error) {
      this.#isAllStale = true;
      throw error;
    }
  }

  async #readSome(): Promise<void> {
    const keys: Key[] = [];
    for (const key of this.#stale) {
      if (keys.length >= KEYS_PER_READ) break;
      keys.push(key);
    }
    // A key announced from here on may come too late for this read, so it is read once more.
    for (const key of keys) this.#stale.delete(key);
    try {
      await this.#dependencies.read(keys);
    } catch (error) {
      for (const key of keys) this.#stale.add(key);
      throw error;
    }
  }
}
