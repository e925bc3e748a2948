import type { Reader, Tx } from "../../../../db/transaction.ts";

/** The operator's budget for the traffic costs of an instance whose renter set no limit. */
export type TrafficRules = {
  /** The part of the budget that is available at once, at any price of the instance. */
  readonly baseNanos: bigint;
  /** Growth in each hour of running, in thousandths of the hourly price. */
  readonly sharePermille: number;
};

export async function readTrafficRules(db: Reader): Promise<TrafficRules> {
  const row = await db
    .selectFrom("price_rules")
    .select(["traffic_base_nanos", "traffic_share_permille"])
    .executeTakeFirstOrThrow();
  return { baseNanos: row.traffic_base_nanos, sharePermille: row.traffic_share_permille };
}

/** Stores the budget settings that this server was started with, for all servers of the database. */
export async function setTrafficRules(tx: Tx, { baseNanos, sharePermille }: TrafficRules): Promise<void> {
  await tx.db
    .updateTable("price_rules")
    .set({ traffic_base_nanos: baseNanos, traffic_share_permille: sharePermille })
    .execute();
}
