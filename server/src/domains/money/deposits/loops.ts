import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { destroyInstances, lockMachinesOf } from "../../rental/instances/index.ts";
import { listEndedBefore, RETENTION_MS } from "../../rental/instances/for-deposits.ts";
import { listReturnable } from "./deposit-store.ts";
import { returnDeposit } from "./deposit-service.ts";
import { dropStaleIncreases, listDueChanges } from "./price-store.ts";
import { switchPrice } from "./price-service.ts";

const ROWS_PER_RUN = 500;
/** Bounds a run, since each deletion makes a host remove a container. */
const DELETIONS_PER_RUN = 100;

type Deps = { readonly database: Database; readonly clock: Clock };

/** Loops that follow the end dates, price changes and deposits of rentals. */
export function depositLoops({ database, clock }: Deps): readonly Loop[] {
  const inTransactions = async <T>(found: readonly T[], work: (tx: Tx, one: T) => Promise<boolean>) => {
    let count = 0;
    for (const one of found) if (await withTransaction(database, clock, (tx) => work(tx, one))) count += 1;
    return count;
  };
  return [
    {
      name: "switch-prices",
      description: "Applies price increases that renters have accepted, when their time comes.",
      everyMs: 2_000,
      run: async () => ({
        switched: await inTransactions(await listDueChanges(database.kysely, clock.now(), ROWS_PER_RUN), switchPrice),
      }),
    },
    {
      name: "return-deposits",
      description: "Returns the rest of the deposits of rentals that are over.",
      everyMs: 5_000,
      run: async () => ({
        returned: await inTransactions(await listReturnable(database.kysely, ROWS_PER_RUN), returnDeposit),
      }),
    },
    {
      name: "delete-ended-contracts",
      description: "Deletes instances two days after the end date of their rental.",
      everyMs: 60_000,
      run: () =>
        withTransaction(database, clock, async (tx) => {
          const before = new Date(tx.now.getTime() - RETENTION_MS);
          const found = await listEndedBefore(tx.db, before, DELETIONS_PER_RUN);
          await lockMachinesOf(tx, found);
          // A host may have extended some of these rentals meanwhile.
          const locked = new Set(found);
          const due = (await listEndedBefore(tx.db, before, DELETIONS_PER_RUN)).filter((id) => locked.has(id));
          return { deleted: await destroyInstances(tx, due, { actor: "rule", cause: "contract_over" }) };
        }),
    },
    {
      name: "drop-price-increases",
      description: "Deletes price increases that can no longer be accepted.",
      everyMs: 60_000,
      run: () =>
        withTransaction(database, clock, async (tx) => ({ dropped: await dropStaleIncreases(tx, ROWS_PER_RUN) })),
    },
  ];
}
