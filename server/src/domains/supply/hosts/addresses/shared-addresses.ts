import type { UserId } from "../../../../base/ids.ts";
import { isPublicAddress } from "../../../../base/public-address.ts";

/** Machines of one host that joined, are connected from one address and name one public address. */
export type ConnectedFrom = {
  readonly hostId: UserId;
  /** The client's address; undefined where a trusted proxy did not forward it. */
  readonly address: string | undefined;
  /** The public address that the machines name. */
  readonly named: string;
  readonly machineCount: number;
};

/**
 * Reason to take an address for a proxy's: the operator named it, its machines name other public addresses, or many
 * hosts connect from it and none names it as its own.
 */
type SharedReason = "trusted_proxy" | "other_addresses" | "many_hosts";

export type SharedAddress = {
  readonly address: string | undefined;
  readonly machineCount: number;
  readonly hostCount: number;
  readonly reason: SharedReason;
};

/**
 * From this number on, hosts behind one address that none of them names are more likely behind a proxy than behind one
 * router.
 */
const HOSTS_MANY = 5;

/** Addresses of proxies that hide where machines connect from. */
export function findSharedAddresses(connected: readonly ConnectedFrom[]): readonly SharedAddress[] {
  return [...Map.groupBy(connected, ({ address }) => address)].flatMap(([address, machines]) => {
    const reason = reasonOf(address, machines);
    if (reason === undefined) return [];
    const machineCount = machines.reduce((sum, one) => sum + one.machineCount, 0);
    return [{ address, machineCount, hostCount: hostsIn(machines), reason }];
  });
}

/**
 * True when the machines connected from this address are somewhere else: those of different hosts name different public
 * addresses, none of them this one. One host alone cannot cause that for the others.
 */
export function isElsewhere(address: string, machines: readonly Omit<ConnectedFrom, "machineCount">[]): boolean {
  const elsewhere = machines.filter(({ named }) => named !== address && isPublicAddress(named));
  return hostsIn(elsewhere) > 1 && new Set(elsewhere.map(({ named }) => named)).size > 1;
}

function reasonOf(address: string | undefined, machines: readonly ConnectedFrom[]): SharedReason | undefined {
  if (address === undefined) return "trusted_proxy";
  if (isElsewhere(address, machines)) return "other_addresses";
  const isNamed = machines.some(({ named }) => named === address);
  return !isNamed && hostsIn(machines) >= HOSTS_MANY ? "many_hosts" : undefined;
}

function hostsIn(machines: readonly Pick<ConnectedFrom, "hostId">[]): number {
  return new Set(machines.map(({ hostId }) => hostId)).size;
}
