import type { UserId } from "../../../../base/ids.ts";
import { isPublicAddress } from "../../../../base/public-address.ts";

/** Machines of one host that joined, are connected from one address and name one public address. */
export type ConnectedFrom = {
  readonly hostId: UserId;
  /** Undefined where a trusted proxy did not say who is behind it. */
  readonly address: string | undefined;
  /** What the machines say that their public address is. */
  readonly named: string;
  readonly machineCount: number;
};

/**
 * Why an address seems to be a proxy's: it is one that the operator named; its machines name other public addresses; or so
 * many hosts connect from there, none of which calls the address its own.
 */
type SharedReason = "trusted_proxy" | "other_addresses" | "many_hosts";

export type SharedAddress = {
  readonly address: string | undefined;
  readonly machineCount: number;
  readonly hostCount: number;
  readonly reason: SharedReason;
};

/** So many hosts behind one router, none of which names its address, are less likely than a proxy. */
const HOSTS_MANY = 5;

/** The addresses from which machines are connected through a proxy that does not say where they are. */
export function findSharedAddresses(connected: readonly ConnectedFrom[]): readonly SharedAddress[] {
  return [...Map.groupBy(connected, ({ address }) => address)].flatMap(([address, machines]) => {
    const reason = reasonOf(address, machines);
    if (reason === undefined) return [];
    const machineCount = machines.reduce((sum, one) => sum + one.machineCount, 0);
    return [{ address, machineCount, hostCount: hostsIn(machines), reason }];
  });
}

/**
 * Whether machines that are connected from this address are somewhere else: those of different hosts name different public
 * addresses, and none of these is it. One host alone cannot bring that about for the others.
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
