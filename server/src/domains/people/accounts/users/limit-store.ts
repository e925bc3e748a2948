import type { Reader, Tx } from "../../../../db/transaction.ts";

/** Limits that the operator sets on what one account may have at a time. */
export type AccountLimits = { readonly instances: number; readonly volumes: number };

export async function readAccountLimits(db: Reader): Promise<AccountLimits> {
  const row = await db.selectFrom("account_rules").select(["instances_max", "volumes_max"]).executeTakeFirstOrThrow();
  return { instances: row.instances_max, volumes: row.volumes_max };
}

/** Stores the limits of this start for the whole database. Objects of an account beyond them stay. */
export async function setAccountLimits(tx: Tx, { instances, volumes }: AccountLimits): Promise<void> {
  await tx.db.updateTable("account_rules").set({ instances_max: instances, volumes_max: volumes }).execute();
}
