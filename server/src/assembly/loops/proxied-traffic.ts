import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import { watchProxiedTraffic } from "../../domains/rental/instances/for-assembly.ts";
import type { Loop } from "../../base/loop-driver.ts";
import type { PortProxy } from "../../proxy/port-proxy.ts";

/**
 * Compares the bytes that this server's proxy carried out of containers with their hosts' counts. Bytes that a server
 * carried and could not store any more are missing: the sums are lower bounds.
 */
export function proxiedTrafficLoop({
  database,
  clock,
  proxy,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly proxy: Pick<PortProxy, "takeSentBytes">;
}): Loop {
  return {
    name: "watch-proxied-traffic",
    description: "Compares the bytes that the proxy carried out of containers with their hosts' counts.",
    everyMs: 60_000,
    run: async () => {
      const sent = proxy.takeSentBytes();
      return withTransaction(database, clock, (tx) => watchProxiedTraffic(tx, sent));
    },
  };
}
