import type { Clock } from "../../../base/clock.ts";
import type { Database } from "../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../db/transaction.ts";
import type { Loop } from "../../../base/loop-driver.ts";
import { balanceOf, balancesOf, lockCredit } from "../../money/ledger/index.ts";
import type { MoveCredit } from "./team-service.ts";
import { listDeletedSince, type DeletedTeam } from "./team-store.ts";

const TEAMS_PER_RUN = 500;
/** How long money may still arrive at a deleted team: from a concurrent credit transfer, or a refund. */
const WATCHED_MS = 30 * 86_400_000;

type Deps = { readonly database: Database; readonly clock: Clock; readonly moveCredit: MoveCredit };

export function teamLoops({ database, clock, moveCredit }: Deps): readonly Loop[] {
  return [
    {
      name: "return-team-credit",
      description: "Returns credit that arrived at a deleted team to its last owner.",
      everyMs: 60_000,
      run: async () => {
        const since = new Date(clock.now().getTime() - WATCHED_MS);
        const deleted = await listDeletedSince(database.kysely, since, TEAMS_PER_RUN);
        const balances = await balancesOf(
          database.kysely,
          deleted.map(({ id }) => id),
        );
        let returned = 0;
        for (const team of deleted) {
          if ((balances.get(team.id)?.available ?? 0n) <= 0n) continue;
          if (await withTransaction(database, clock, (tx) => returnCredit(tx, team, moveCredit))) returned += 1;
        }
        return { returned };
      },
    },
  ];
}

async function returnCredit(tx: Tx, { id, lastOwnerId }: DeletedTeam, moveCredit: MoveCredit): Promise<boolean> {
  await lockCredit(tx, id);
  const { available } = await balanceOf(tx.db, id);
  if (available <= 0n) return false;
  await moveCredit(tx, { from: id, to: lastOwnerId, amount: available, caller: undefined, isReturn: true });
  return true;
}
