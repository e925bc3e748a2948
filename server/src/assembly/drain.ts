import type { Clock } from "../base/clock.ts";
import type { ThisServer } from "../domains/servers/index.ts";
import type { Draining } from "../http/draining.ts";

type DrainMeans = {
  readonly draining: Draining;
  readonly server: Pick<ThisServer, "listOthers">;
  readonly clock: Clock;
  readonly drainMs: number;
  /** Ends the wait early. */
  readonly signal: AbortSignal;
};

/**
 * Says by `/readyz` that this server stops, and answers for a while yet, so that proxies send their requests to the other
 * servers before this one is gone. A server without others has nobody to wait for.
 */
export async function drainServer({ draining, server, clock, drainMs, signal }: DrainMeans): Promise<void> {
  draining.begin();
  if (drainMs === 0 || signal.aborted) return;
  // A database that is away says nothing of others: they cannot serve either.
  const others = await server.listOthers().catch(() => []);
  if (others.length > 0) await clock.sleep(drainMs, signal);
}
