import type { Clock } from "../../../base/clock.ts";
import type { MachineId, UserId } from "../../../base/ids.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { keepAccounts, listFrozenIds } from "../accounts/index.ts";
import { listListedMachinesOf, lockMachines, unlistMachine } from "../../supply/hosts/index.ts";
import { listWantedOf, stopFrozen } from "../../rental/instances/index.ts";
import { refreshOffers } from "../../supply/market/index.ts";
import { stopEndpointsOf } from "../../serverless/index.ts";
import { unlistLocalSpaceOf, unlistNetworkSpaceOf } from "../../supply/volumes/index.ts";
import { cancelRequestsOf } from "../../rental/queue/index.ts";

export const ENFORCE_LOOP = "enforce-freezes";

const PER_RUN = 200;
const CANCEL_REASON = "The account is frozen.";

type Deps = { readonly database: Database; readonly clock: Clock };

/** Stops everything that frozen accounts run, including requests that were under way when the freeze came. */
export function freezeLoops({ database, clock }: Deps): readonly Loop[] {
  return [
    {
      name: ENFORCE_LOOP,
      description: "Stops instances and endpoints of frozen accounts, and takes their listings off the market.",
      everyMs: 2_000,
      run: () => enforceFreezes({ database, clock }),
    },
  ];
}

async function enforceFreezes({ database, clock }: Deps) {
  const counts = { accounts: 0, endpoints: 0, requests: 0, instances: 0, machines: 0, disks: 0 };
  const ids = await listFrozenIds(database.kysely);
  if (ids.length === 0) return counts;
  counts.accounts = ids.length;
  // Endpoints and standing requests come first: they would rent again what is stopped.
  counts.endpoints = await withTransaction(database, clock, (tx) => stopEndpointsOf(tx, ids));
  counts.requests = await withTransaction(database, clock, (tx) => cancelRequestsOf(tx, ids, CANCEL_REASON));
  counts.disks = await withTransaction(database, clock, (tx) => unlistNetworkSpaceOf(tx, ids));
  const errors: unknown[] = [];
  for (const machine of await listListedMachinesOf(database.kysely, ids, PER_RUN)) {
    const isUnlisted = await attempt(errors, () => withTransaction(database, clock, (tx) => unlistFrozen(tx, machine)));
    if (isUnlisted === true) counts.machines += 1;
  }
  counts.disks += await withTransaction(database, clock, (tx) => unlistLocalSpaceOf(tx, ids));
  for (const id of await listWantedOf(database.kysely, ids, PER_RUN)) {
    const isStopped = await attempt(errors, () => withTransaction(database, clock, (tx) => stopFrozen(tx, id)));
    if (isStopped === true) counts.instances += 1;
  }
  if (errors.length > 0) throw errors[0];
  return counts;
}

/** Rentals by others go on to their end: these renters have done nothing. False once the freeze is lifted. */
async function unlistFrozen(tx: Tx, { id, hostId }: { readonly id: MachineId; readonly hostId: UserId }) {
  if ((await keepAccounts(tx, [hostId])).get(hostId) === undefined) return false;
  await lockMachines(tx, [id]);
  await unlistMachine(tx, id);
  await refreshOffers(tx, [id]);
  return true;
}

/** A failure does not stop the other steps; it is reported at the end. */
async function attempt<T>(errors: unknown[], work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    errors.push(error);
    return undefined;
  }
}
