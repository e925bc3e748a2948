// Payouts and holds as the audit reads them, to compare them with the facts of who made and settled them.
import { sql } from "kysely";
import type { Reader } from "../../../db/transaction.ts";
import { payoutFact, selectPayouts } from "./payouts/payout-store.ts";

/** A row, and the part of its fact that the row must repeat. */
export type StatedRow = {
  readonly id: number;
  readonly says: Readonly<Record<string, string | number | boolean | null>>;
};

const PAYOUTS_MAX = 2_147_483_647;

/** Payouts that are open, or were made or settled since a moment. */
export async function listStatedPayouts(db: Reader, since: Date | undefined): Promise<readonly StatedRow[]> {
  const { rows } = await sql<{ id: number }>`
    select id from payouts
    where state in ('pending', 'sending') or created_at >= coalesce(${since ?? null}::timestamptz, '-infinity')
      or settled_at >= coalesce(${since ?? null}::timestamptz, '-infinity')
      or returned_at >= coalesce(${since ?? null}::timestamptz, '-infinity')
  `.execute(db);
  return payoutsOf(
    db,
    rows.map(({ id }) => id),
  );
}

/** Those of these payouts that exist. */
export async function payoutsOf(db: Reader, ids: readonly number[]): Promise<readonly StatedRow[]> {
  const payouts = await selectPayouts(db, {
    ids: ids as Parameters<typeof selectPayouts>[1]["ids"],
    limit: PAYOUTS_MAX,
  });
  return payouts.map((payout) => ({ id: payout.id, says: payoutFact(payout) }));
}

/** All holds on payouts. */
export async function listStatedPayoutHolds(db: Reader): Promise<readonly StatedRow[]> {
  const rows = await db
    .selectFrom("payout_holds")
    .select(["id", "user_id", "kind", "released_at"])
    .orderBy("id")
    .execute();
  return rows.map((row) => ({
    id: row.id,
    says: { user: row.user_id, kind_of_hold: row.kind, is_open: row.released_at === null },
  }));
}
