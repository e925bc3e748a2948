import type { Reader, Tx } from "../../../../db/transaction.ts";

/** How much of what runs or is stored one account may have at a time, as the operator set it. */
export type AccountLimits = { readonly instances: number; readonly volumes: number };

export async function readAccountLimits(db: Reader): Promise<AccountLimits> {
  const row = await db.selectFrom("account_rules").select(["instances_max", "volumes_max"]).executeTakeFirstOrThrow();
  return { instances: row.instances_max, volumes: row.volumes_max };
}

/** Makes the limits of this start those of the database. What an account has beyond them stays. */
export async function setAccountLimits(tx: Tx, { instances, volumes }: AccountLimits): Promise<void> {
  await tx.db.updateTable("account_rules").set({ instances_max: instances, volumes_max: volumes }).execute();
}
