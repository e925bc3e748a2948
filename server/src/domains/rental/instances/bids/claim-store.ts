import { sql } from "kysely";
import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { firstLiveGrantAt, type Claim } from "../../../supply/market/for-instances.ts";
import type { Phase } from "../lifecycle/rules/lifecycle.ts";

export type StoredClaim = Claim & {
  readonly machineId: MachineId;
  readonly phase: Phase;
  /** The time at which it got its present devices, for instances that resumed and still hold them. */
  readonly grantedAtMs: number | undefined;
};

/**
 * The instances that want or hold devices on these machines. A caller that decides by them holds the machines' row
 * locks.
 */
export async function listClaims(db: Reader, machineIds: readonly MachineId[]): Promise<readonly StoredClaim[]> {
  const rows = await db
    .selectFrom("instances")
    .select([
      "id",
      "machine_id",
      "is_bid",
      "is_background",
      "price_nanos_per_hour",
      "created_at",
      "claimed_at",
      "displaced_at",
      "device_count",
      "phase",
      sql<Date | null>`case when displaced_at is not null and phase <> 'scheduled'
        then ${firstLiveGrantAt(sql`instances.id`)} end`.as("granted_at"),
    ])
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .where("ended_at", "is", null)
    .where("phase", "!=", "stopped")
    .execute();
  return rows.map((row) => ({
    instanceId: row.id,
    machineId: row.machine_id,
    isBid: row.is_bid,
    isBackground: row.is_background,
    priceNanosPerHour: row.price_nanos_per_hour,
    claimedAtMs: (row.claimed_at ?? row.created_at).getTime(),
    deviceCount: row.device_count,
    displacedAtMs: row.displaced_at?.getTime(),
    phase: row.phase,
    grantedAtMs: row.granted_at?.getTime(),
  }));
}

/** Notes that an instance claims devices from now on, because its bid was raised or it was started again. */
export async function renewClaim(
  tx: Tx,
  id: InstanceId,
  { isFresh }: { /** Whether it begins as if it had never been displaced. */ readonly isFresh: boolean },
): Promise<void> {
  await tx.db
    .updateTable("instances")
    .set({ claimed_at: tx.now, ...(isFresh ? { displaced_at: null } : {}) })
    .where("id", "=", id)
    .execute();
}
