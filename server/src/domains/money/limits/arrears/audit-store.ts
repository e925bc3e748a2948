// Reads arrears for the audit.
import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";

export type AuditedArrears = {
  readonly id: number;
  readonly userId: UserId;
  readonly isOpen: boolean;
  /** The lowest balance that the account may have meanwhile. */
  readonly minBalanceNanos: bigint;
  readonly writtenOffNanos: bigint;
};

/** Arrears that are open, that ended since a moment, or that are named. */
export async function listAuditedArrears(
  db: Reader,
  { since, ids }: { readonly since: Date | undefined; readonly ids: readonly number[] },
): Promise<readonly AuditedArrears[]> {
  const { rows } = await sql<AuditedArrears>`
    select id, user_id as "userId", ended_at is null as "isOpen", floor_nanos as "minBalanceNanos",
      written_off_nanos as "writtenOffNanos"
    from arrears
    where ended_at is null or ended_at >= coalesce(${since ?? null}::timestamptz, '-infinity')
      or id = any (${ids}::integer[])
    order by id
  `.execute(db);
  return rows;
}
