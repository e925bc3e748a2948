import pg from "pg";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { DatabaseConfig } from "./connect.ts";

/** `onGap` runs when notifications may have been missed: the handler then reads its data again. */
export type ChannelHandler = { readonly onMessage: (payload: string) => void; readonly onGap: () => void };

export type Listener = { close(): Promise<void> };

const RETRY_MS = 500;

/** Follows PostgreSQL notifications on a connection of its own, for as long as the process lives. */
export async function listen(
  config: DatabaseConfig,
  channels: ReadonlyMap<string, ChannelHandler>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<Listener> {
  const stopping = new AbortController();
  let client: pg.Client | undefined;

  const open = async () => {
    const next = new pg.Client({ ...config, application_name: "berth-listener" });
    next.on("notification", ({ channel, payload }) => channels.get(channel)?.onMessage(payload ?? ""));
    next.on("error", (error) => log.warn({ err: error }, "the notification connection broke"));
    await next.connect();
    for (const channel of channels.keys()) await next.query(`listen ${pg.escapeIdentifier(channel)}`);
    // Only now: an attempt that fails ends too, and is tried again by its caller; two of them would become four.
    next.on("end", () => {
      if (!stopping.signal.aborted) void reopen();
    });
    client = next;
  };
  const reopen = async () => {
    while (!stopping.signal.aborted) {
      try {
        await open();
        for (const handler of channels.values()) handler.onGap();
        return;
      } catch (error) {
        log.warn({ err: error }, "the notification connection is not back yet");
        await clock.sleep(RETRY_MS, stopping.signal);
      }
    }
  };

  await open();
  return {
    async close() {
      stopping.abort();
      await client?.end();
    },
  };
}
