import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import type { Database } from "../db/connect.ts";
import { Agreement, Routers } from "../domains/serverless/index.ts";
import type { ThisServer } from "../domains/servers/index.ts";

type RoutingMeans = {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
  readonly random: (byteCount: number) => Buffer;
  readonly server?: ThisServer;
};

/** The routers of this process, and their agreement with those of the other servers. */
export function createRouting({ database, clock, log, random, server }: RoutingMeans) {
  const processName = random(8).toString("hex");
  const routers = new Routers({ database, clock, log, processName });
  const servers = { own: () => server?.id, others: async () => (await server?.listOthers()) ?? [] };
  return { routers, agreement: new Agreement({ database, clock, log, processName, routers, servers }) };
}
