import { sql } from "kysely";
import type { InstanceId, SshKeyId, UserId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import type { SshKeyText } from "./store.ts";

/** A key that opens one instance. */
export type InstanceSshKey = {
  readonly id: SshKeyId;
  readonly instanceId: InstanceId;
  readonly publicKey: string;
  readonly fingerprint: string;
};

/** Gives new instances the present keys of their users: one statement for the whole batch. */
export async function copySshKeys(
  tx: Tx,
  made: readonly { readonly instanceId: InstanceId; readonly userId: UserId }[],
): Promise<void> {
  if (made.length === 0) return;
  await sql`
    insert into instance_ssh_keys (instance_id, ssh_key_id, public_key, fingerprint, created_at)
    select made.instance_id, key.id, key.public_key, key.fingerprint, ${tx.now}::timestamptz
    from unnest(
      ${made.map(({ instanceId }) => instanceId)}::integer[], ${made.map(({ userId }) => userId)}::integer[]
    ) as made (instance_id, user_id)
    join ssh_keys as key on key.user_id = made.user_id and key.deleted_at is null
  `.execute(tx.db);
}

/** The keys of these instances, oldest first; instances without keys are left out. */
export async function listInstanceSshKeys(
  db: Reader,
  instanceIds: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, readonly InstanceSshKey[]>> {
  if (instanceIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("instance_ssh_keys")
    .select(["ssh_key_id as id", "instance_id as instanceId", "public_key as publicKey", "fingerprint"])
    .where("instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`)
    .orderBy("instance_id")
    .orderBy("created_at")
    .orderBy("ssh_key_id")
    .execute();
  return Map.groupBy(rows, (row) => row.instanceId);
}

/** Adds a key under this id, or under a new one. The caller has locked the instance and found neither taken. */
export async function insertInstanceSshKey(
  tx: Tx,
  instanceId: InstanceId,
  { id, line, fingerprint }: SshKeyText & { readonly id: SshKeyId | undefined },
): Promise<SshKeyId> {
  const row = await tx.db
    .insertInto("instance_ssh_keys")
    .values({
      instance_id: instanceId,
      ssh_key_id: id ?? sql<SshKeyId>`nextval(pg_get_serial_sequence('ssh_keys', 'id'))::integer`,
      public_key: line,
      fingerprint,
      created_at: tx.now,
    })
    .returning("ssh_key_id")
    .executeTakeFirstOrThrow();
  return row.ssh_key_id;
}

/** Deletes a key of an instance; false when there is none of this id. */
export async function deleteInstanceSshKey(tx: Tx, instanceId: InstanceId, id: SshKeyId): Promise<boolean> {
  const result = await tx.db
    .deleteFrom("instance_ssh_keys")
    .where("instance_id", "=", instanceId)
    .where("ssh_key_id", "=", id)
    .executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Deletes the keys of ended instances. Safe to repeat. */
export async function deleteInstanceSshKeys(tx: Tx, instanceIds: readonly InstanceId[]): Promise<void> {
  if (instanceIds.length === 0) return;
  await tx.db
    .deleteFrom("instance_ssh_keys")
    .where("instance_id", "=", sql<InstanceId>`any(${instanceIds}::integer[])`)
    .execute();
}
