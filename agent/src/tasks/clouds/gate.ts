import { networkInterfaces } from "node:os";
import { isInternetAddress } from "../../../../protocol/index.ts";
import { resolveByHost } from "../../images/registries.ts";
import type { CloudGate } from "./proxy.ts";

/**
 * Addresses on the internet that are none of this host's: its services may answer itself where a firewall keeps others
 * out.
 */
export const CLOUD_GATE: CloudGate = {
  resolve: resolveByHost,
  isAllowed: (address) => isInternetAddress(address) && !ownAddresses().includes(address),
};

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((addresses) => (addresses ?? []).map((one) => one.address));
}

/** The gate of hosts under test that copy with no storage. */
export const NO_CLOUDS: CloudGate = { resolve: () => Promise.resolve([]), isAllowed: () => false };
