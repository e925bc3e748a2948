// Reads deposits for the audit.
import { sql } from "kysely";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

/** The deposit of an instance, the account that prepaid it, and whether the rest was returned. */
export type AuditedDeposit = {
  readonly instanceId: InstanceId;
  readonly userId: UserId;
  readonly isClosed: boolean;
  readonly prepayCount: number;
  readonly savedNanos: bigint;
};

export async function listAuditedDeposits(
  db: Reader,
  ids: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, AuditedDeposit>> {
  const rows = await db
    .selectFrom("deposits")
    .select(["instance_id", "user_id", "closed_at", "prepay_count", "saved_nanos"])
    .where("instance_id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.instance_id,
      {
        instanceId: row.instance_id,
        userId: row.user_id,
        isClosed: row.closed_at !== null,
        prepayCount: row.prepay_count,
        savedNanos: row.saved_nanos,
      },
    ]),
  );
}
