import { succeed, type NetworkSpec, type Result } from "../engine/engine.ts";
import type { Call } from "./connection.ts";

/**
 * Makes a bridge network on which containers do not see each other. Its containers have no IPv6, so that only IPv4 needs
 * rules for each destination. A network that has the name already is taken as it is, since only the agent uses the name.
 * Returns the engine's description of it.
 */
export async function provideNetwork(
  call: (call: Call) => Promise<Result<unknown>>,
  { name, bridge }: NetworkSpec,
): Promise<Result<unknown>> {
  const look = { method: "GET", path: `/networks/${encodeURIComponent(name)}` } as const;
  const found = await call(look);
  if (found.ok || found.failure.kind !== "not_found") return found;
  const body = {
    Name: name,
    CheckDuplicate: true,
    Driver: "bridge",
    EnableIPv6: false,
    Labels: { "berth.network": name },
    Options: {
      "com.docker.network.bridge.name": bridge,
      "com.docker.network.bridge.enable_icc": "false",
      "com.docker.network.bridge.enable_ip_masquerade": "true",
    },
  };
  const made = await call({ method: "POST", path: "/networks/create", body });
  // Another process was faster, and its network is as good.
  return made.ok || made.failure.kind === "conflict" ? call(look) : made;
}

export async function removeNetwork(
  call: (call: Call) => Promise<Result<unknown>>,
  name: string,
): Promise<Result<void>> {
  const removed = await call({ method: "DELETE", path: `/networks/${encodeURIComponent(name)}` });
  return removed.ok || removed.failure.kind === "not_found" ? succeed(undefined) : removed;
}
