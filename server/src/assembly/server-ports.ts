import type { Tx } from "../db/transaction.ts";
import { disconnectServers, disconnectUnowned, type AgentGateway } from "../domains/supply/hosts/for-assembly.ts";
import { takeBackConnections } from "../domains/supply/hosts/index.ts";
import type { ServerPorts, ThisServer } from "../domains/servers/index.ts";

/** Milliseconds without a message after which a connection that no server has counts as ended. */
const UNOWNED_MS = 180_000;

type Means = {
  readonly gateway: AgentGateway;
  readonly server?: ThisServer;
  readonly leaseMs: number;
};

/** The handling of agents' connections when servers come and go. */
export function serverPorts({ gateway, server, leaseMs }: Means): ServerPorts {
  return {
    release: async (tx, ids) => (await disconnectServers(tx, ids)).length,
    releaseUnowned: async (tx: Tx) => (await disconnectUnowned(tx, new Date(tx.now.getTime() - UNOWNED_MS))).length,
    reclaim: async (tx) => {
      const connections = () => ({ open: gateway.registrations(), serverId: server?.id, leaseMs });
      await takeBackConnections(tx, connections().open, connections);
    },
  };
}
