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

/** Stores the authority unless one exists, so that all servers use the same one. */
export async function insertAuthority(tx: Tx, { certificatePem, encryptedKey }: StoredAuthority): Promise<void> {
  await tx.db
    .insertInto("certificate_authorities")
    .values({ certificate_pem: certificatePem, sealed_key: encryptedKey, created_at: tx.now })
    .onConflict((oc) => oc.doNothing())
    .execute();
}

/** The machine of a live instance, and the end of its rental. */
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
