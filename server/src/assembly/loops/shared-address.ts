import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import type { Database } from "../../db/connect.ts";
import { findSharedAddresses, listConnectedFrom } from "../../domains/supply/hosts/for-assembly.ts";
import type { Loop } from "../../base/loop-driver.ts";

/** The interval of the warning while the address stays the same: the operator may have overlooked it. */
const TELL_EVERY_MS = 86_400_000;

/**
 * Tells the operator when agents seem to connect through a proxy that does not say where they come from: all of them, and
 * all clients behind it, then have one address, which certificates cannot name and limits by address count as one.
 */
export function sharedAddressLoop({
  database,
  clock,
  log,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}): Loop {
  const toldAtMs = new Map<string | undefined, number>();
  return {
    name: "find-shared-addresses",
    description: "Tells the operator when a proxy hides where agents and clients come from.",
    everyMs: 600_000,
    run: async () => {
      const found = findSharedAddresses(await listConnectedFrom(database.kysely));
      const nowMs = clock.monotonicMs();
      for (const { address, machineCount, hostCount, reason } of found) {
        const toldAt = toldAtMs.get(address);
        if (toldAt !== undefined && nowMs - toldAt < TELL_EVERY_MS) continue;
        toldAtMs.set(address, nowMs);
        log.warn(
          { address: address ?? "a proxy of BERTH_TRUST_PROXY", machines: machineCount, hosts: hostCount, reason },
          "a proxy seems to hide where agents and clients come from: have it add X-Forwarded-For, and set BERTH_TRUST_PROXY",
        );
      }
      return { addresses: found.length, machines: found.reduce((sum, { machineCount }) => sum + machineCount, 0) };
    },
  };
}
