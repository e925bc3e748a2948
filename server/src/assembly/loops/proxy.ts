import type { Database } from "../../db/connect.ts";
import { listProxiedInstances, type ProxiedInstance } from "../../domains/rental/instances/for-assembly.ts";
import type { Loop } from "../../base/loop-driver.ts";
import type { PortProxy, ProxyTarget } from "../../proxy/port-proxy.ts";

export const PROXY_LOOP = "listen-on-proxy-ports";

export function proxyLoop({ database, proxy }: { readonly database: Database; readonly proxy: PortProxy }): Loop {
  return {
    name: PROXY_LOOP,
    description: "Listens on the proxy ports of all instances that have some.",
    everyMs: 5_000,
    async run() {
      proxy.sync(targetsOf(await listProxiedInstances(database.kysely)));
      return { ports: proxy.portCount };
    },
  };
}

/**
 * Targets by proxy port. With Jupyter the first port of a pair leads to Jupyter and the second to SSH; without, the
 * first to SSH. In the mode `args`, where an instance has a pair once somebody asked for a copy, SSH lets in copies alone.
 */
function targetsOf(instances: readonly ProxiedInstance[]): ReadonlyMap<number, ProxyTarget> {
  const targets = new Map<number, ProxyTarget>();
  for (const { port, instanceId, machineId, mode } of instances) {
    const isJupyter = mode === "jupyter";
    if (isJupyter) targets.set(port, { instanceId, machineId, service: "jupyter" });
    targets.set(isJupyter ? port + 1 : port, { instanceId, machineId, service: "ssh" });
  }
  return targets;
}
