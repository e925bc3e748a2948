import pg from "pg";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { DatabaseConfig } from "./connect.ts";

/** `onGap` runs when notifications may have been missed: the handler then reads its data again. */
export type ChannelHandler = { readonly onMessage: (payload: string) => void; readonly onGap: () => void };

export type Listener = {
  /** Resolves when a pulse has come back on the notification connection; false when none came in time. */
  hears(): Promise<boolean>;
  close(): Promise<void>;
};

const RETRY_MS = 500;
const CONNECT_LIMIT_MS = 10_000;
/** How often a server sends itself a notification. */
const PULSE_EVERY_MS = 2_000;
/** Pulses that the database took, and that did not come, after which a connection counts as deaf. */
const UNHEARD_MAX = 4;
/** How long a start waits for its first pulse. */
const FIRST_PULSE_LIMIT_MS = 10_000;
const PULSE_CHANNEL = "berth_pulse";

export type ListenerMeans = {
  readonly clock: Clock;
  readonly log: Log;
  /**
   * Sends a notification by the connections that changes are made on. PostgreSQL delivers notifications in the order of
   * their commits: one that comes back proves that all earlier ones have come, too. Absent in tests of something else.
   */
  readonly notify?: (channel: string, payload: string) => Promise<unknown>;
  /** Told apart from those of other servers, which come on the same channel. */
  readonly pulseId?: string;
};

/**
 * Follows PostgreSQL notifications on a connection of its own, for as long as the process lives. A connection that breaks,
 * or that brings no pulses any more although none has told it so, is replaced, and all handlers read their data again.
 */
export async function listen(
  config: DatabaseConfig,
  channels: ReadonlyMap<string, ChannelHandler>,
  means: ListenerMeans,
): Promise<Listener> {
  const followed = new Follower(config, channels, means);
  await followed.start();
  return followed;
}

class Follower implements Listener {
  readonly #config: pg.ClientConfig;
  readonly #channels: ReadonlyMap<string, ChannelHandler>;
  readonly #means: ListenerMeans;
  readonly #stopping = new AbortController();
  #client: pg.Client | undefined;
  /** Pulses that the database took since the last one came. */
  #unheardCount = 0;
  #waiting: (() => void)[] = [];
  #stopPulse: () => void = () => {};

  constructor(
    { isPooled: _, ...config }: DatabaseConfig,
    channels: ReadonlyMap<string, ChannelHandler>,
    means: ListenerMeans,
  ) {
    this.#config = config;
    this.#channels = channels;
    this.#means = means;
  }

  async start(): Promise<void> {
    await this.#open();
    if (this.#means.notify !== undefined) {
      this.#stopPulse = this.#means.clock.every(PULSE_EVERY_MS, () => this.#pulse());
    }
  }

  async hears(): Promise<boolean> {
    const heard = Promise.withResolvers<void>();
    this.#waiting.push(() => heard.resolve());
    this.#pulse();
    const done = new AbortController();
    const late = this.#means.clock.sleep(FIRST_PULSE_LIMIT_MS, done.signal).then(() => false);
    const isHeard = await Promise.race([heard.promise.then(() => true), late]);
    done.abort();
    return isHeard;
  }

  async close(): Promise<void> {
    this.#stopPulse();
    this.#stopping.abort();
    await this.#client?.end();
  }

  async #open(): Promise<void> {
    const { log } = this.#means;
    const next = new pg.Client({
      ...this.#config,
      application_name: "berth-listener",
      connectionTimeoutMillis: CONNECT_LIMIT_MS,
      keepAlive: true,
    });
    next.on("notification", ({ channel, payload = "" }) => {
      if (channel === PULSE_CHANNEL) this.#hear(payload);
      else this.#channels.get(channel)?.onMessage(payload);
    });
    next.on("error", (error) => log.warn({ err: error }, "the notification connection broke"));
    await next.connect();
    const names = [PULSE_CHANNEL, ...this.#channels.keys()];
    await next.query(names.map((name) => `listen ${pg.escapeIdentifier(name)}`).join("; "));
    // Only now: an attempt that fails ends too, and is tried again by its caller; two of them would become four.
    next.on("end", () => {
      if (!this.#stopping.signal.aborted) void this.#reopen();
    });
    this.#unheardCount = 0;
    this.#client = next;
  }

  async #reopen(): Promise<void> {
    const { log, clock } = this.#means;
    this.#client = undefined;
    while (!this.#stopping.signal.aborted) {
      try {
        await this.#open();
        for (const handler of this.#channels.values()) handler.onGap();
        return;
      } catch (error) {
        log.warn({ err: error }, "the notification connection is not back yet");
        await clock.sleep(RETRY_MS, this.#stopping.signal);
      }
    }
  }

  /** Sends a pulse, and replaces a connection on which several have not come although the database took them. */
  #pulse(): void {
    const { notify, log, pulseId = "" } = this.#means;
    const client = this.#client;
    if (notify === undefined || client === undefined) return;
    if (this.#unheardCount >= UNHEARD_MAX) {
      log.warn("the notification connection brings nothing any more; it is replaced");
      this.#client = undefined;
      // A connection that is half open would answer no farewell.
      client.connection.stream.destroy();
      return;
    }
    notify(PULSE_CHANNEL, pulseId).then(
      () => (this.#unheardCount += 1),
      // While nothing can be written nothing changes either, so silence is no sign of a deaf connection.
      (error: unknown) => log.debug({ err: error }, "no pulse could be sent"),
    );
  }

  #hear(payload: string): void {
    if (payload !== (this.#means.pulseId ?? "")) return;
    // It comes before or after the answer to the statement that sent it.
    this.#unheardCount = -1;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}
