import { sql } from "kysely";
import { withTransaction } from "../../../server/src/db/transaction.ts";
import type { TestApp } from "../app.ts";
import type { TestCaller } from "../fixtures.ts";
import { until } from "../until.ts";

type Locked = {
  readonly table: "instances" | "volumes" | "ledger_accounts";
  readonly id: number;
  readonly user: TestCaller;
};

/**
 * Locks a row as a settlement or an opposite transfer does first, starts `change`, and waits until `change` waits for
 * that row. Then it takes the user's credit, as the settlement or transfer would next: the credit must be free.
 */
export async function meet<T>(
  { env, clock }: TestApp,
  { table, id, user }: Locked,
  change: () => Promise<T>,
): Promise<T> {
  const changed = await withTransaction(env.database, clock, async (settling) => {
    await sql`select from ${sql.table(table)} where id = ${id} for update`.execute(settling.db);
    const answer = change();
    await until("the change waits for the settlement", async () => {
      const waiting = sql`select from pg_locks where not granted and pg_backend_pid() = any(pg_blocking_pids(pid))`;
      return (await waiting.execute(settling.db)).rows.length > 0;
    });
    const credit = sql`
      select from ledger_accounts where user_id = ${user.id} and kind = 'credit' for update nowait`;
    await credit.execute(settling.db);
    return { answer };
  });
  return changed.answer;
}
