import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type StoredAuthority = { readonly certificatePem: string; readonly encryptedKey: string };

export async function findAuthority(db: Reader): Promise<StoredAuthority | undefined> {
  const row = await db
    .selectFrom("certificate_authorities")
    .select(["certificate_pem", "sealed_key"])
    .executeTakeFirst();
  return row && { certificatePem: row.certificate_pem, encryptedKey: row.sealed_key };
}

/** Keeps the authority unless there is one: whichever server comes first, all of them use the same. */
export async function insertAuthority(tx: Tx, { certificatePem, encryptedKey }: StoredAuthority): Promise<void> {
  await tx.db
    .insertInto("certificate_authorities")
    .values({ certificate_pem: certificatePem, sealed_key: encryptedKey, created_at: tx.now })
    .onConflict((oc) => oc.doNothing())
    .execute();
}

/** Where an instance is that is not over, and when its rental ends. */
export async function findLiveRental(
  db: Reader,
  id: InstanceId,
): Promise<{ readonly machineId: MachineId; readonly endAt: Date } | undefined> {
  const row = await db
    .selectFrom("instances")
    .select(["machine_id", "end_at"])
    .where("id", "=", id)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  return row && { machineId: row.machine_id, endAt: row.end_at };
}
