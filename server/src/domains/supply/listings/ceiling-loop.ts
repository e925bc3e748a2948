import type { Clock } from "../../../base/clock.ts";
import type { MachineId, UserId } from "../../../base/ids.ts";
import { formatDollars } from "../../../base/money.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { listDearMachines, lowerMachinePrices } from "../hosts/for-listings.ts";
import { lockMachines, notifyMarket, readPriceCeilings } from "../hosts/index.ts";
import type { PriceCeilings } from "../../../base/price-ceilings.ts";
import { followTerms } from "../../rental/instances/for-listings.ts";
import { postNotifications } from "../../notifications/index.ts";
import { listDearSpace, lowerNetworkSpacePrices, lowerSpacePrices } from "../volumes/for-listings.ts";

const MACHINES_PER_RUN = 200;

/** Lowers listings that were made before a ceiling was lowered. Rentals keep their agreed prices. */
export function lowerPricesLoop({ database, clock }: { readonly database: Database; readonly clock: Clock }): Loop {
  return {
    name: "lower-prices",
    description: "Lowers listings to the operator's ceilings for traffic and storage, and notifies their hosts.",
    everyMs: 60_000,
    run: () => withTransaction(database, clock, lowerPrices),
  };
}

async function lowerPrices(tx: Tx): Promise<{ readonly machines: number; readonly disks: number }> {
  const ceilings = await readPriceCeilings(tx.db);
  const storageMax = ceilings.storageNanosPerGbMonth;
  const dear = await listDearMachines(tx.db, MACHINES_PER_RUN);
  const ids = [...new Set([...dear, ...(await listDearSpace(tx.db, storageMax, MACHINES_PER_RUN))])];
  ids.sort((a, b) => a - b);
  await lockMachines(tx, ids);
  const lowered = [...(await lowerMachinePrices(tx, ids)), ...(await lowerSpacePrices(tx, ids, storageMax))];
  const hosts = new Map(lowered.map(({ id, hostId }) => [id, hostId]));
  for (const id of hosts.keys()) await followTerms(tx, id);
  await notifyMarket(tx, [...hosts.keys()]);
  const disks = await lowerNetworkSpacePrices(tx, storageMax);
  await tell(
    tx,
    [...hosts].map(([id, hostId]) => ({ hostId, name: `Machine ${id}`, key: machineKey(id, ceilings) })),
    ceilings,
  );
  const ofDisks = disks.map(({ diskId, hostId }) => ({
    hostId,
    name: `Network disk ${diskId}`,
    key: `listing_lowered:disk:${diskId}:${ceilings.storageNanosPerGbMonth}`,
  }));
  await tell(tx, ofDisks, ceilings);
  return { machines: hosts.size, disks: disks.length };
}

function machineKey(id: MachineId, { trafficNanosPerGb, storageNanosPerGbMonth }: PriceCeilings): string {
  return `listing_lowered:machine:${id}:${trafficNanosPerGb}:${storageNanosPerGbMonth}`;
}

type Lowered = { readonly hostId: UserId; readonly name: string; readonly key: string };

async function tell(tx: Tx, lowered: readonly Lowered[], ceilings: PriceCeilings): Promise<void> {
  const traffic = `$${formatDollars(ceilings.trafficNanosPerGb)} per GB of traffic`;
  const storage = `$${formatDollars(ceilings.storageNanosPerGbMonth)} per GB stored for a month`;
  await postNotifications(
    tx,
    lowered.map(({ hostId, name, key }) => ({
      userId: hostId,
      kind: "host:listing_lowered",
      subject: `${name} is listed for less`,
      message: `${name} was listed above the operator's ceilings of ${traffic} and ${storage}. Its prices are lowered to them.`,
      key: `${key}:${tx.now.getTime()}`,
    })),
  );
}
