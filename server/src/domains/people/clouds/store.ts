import { sql } from "kysely";
import type { CloudConnectionId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { CloudSettings } from "./rules/connection.ts";

/** A connection as lists show it, without its keys. */
export type CloudConnection = {
  readonly id: CloudConnectionId;
  readonly provider: CloudSettings["provider"];
  readonly user_given_name: string;
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly namespace: string | null;
  readonly created_at: Date;
};

const SHOWN = ["id", "provider", "user_given_name", "endpoint", "region", "namespace", "created_at"] as const;

export function listConnections(db: Reader, userId: UserId): Promise<readonly CloudConnection[]> {
  return db.selectFrom("cloud_connections").select(SHOWN).where("user_id", "=", userId).orderBy("id").execute();
}

export async function countConnections(db: Reader, userId: UserId): Promise<number> {
  const { count } = await db
    .selectFrom("cloud_connections")
    .select(({ fn }) => fn.countAll<bigint>().as("count"))
    .where("user_id", "=", userId)
    .executeTakeFirstOrThrow();
  return Number(count);
}

/** Takes the next id, which the encryption of the settings is bound to. */
export async function nextConnectionId(tx: Tx): Promise<CloudConnectionId> {
  const { rows } = await sql<{ readonly id: CloudConnectionId }>`
    select nextval(pg_get_serial_sequence('cloud_connections', 'id'))::integer as id`.execute(tx.db);
  const [row] = rows;
  if (row === undefined) throw new Error("the sequence of cloud connections gave no id");
  return row.id;
}

export async function insertConnection(
  tx: Tx,
  userId: UserId,
  connection: Omit<CloudConnection, "created_at"> & { readonly encryptedSettings: string },
): Promise<void> {
  const { encryptedSettings, ...shown } = connection;
  await tx.db
    .insertInto("cloud_connections")
    .values({ ...shown, user_id: userId, sealed_settings: encryptedSettings, created_at: tx.now })
    .execute();
}

/** Deletes a connection of the user's; false when there is none of this id. */
export async function deleteConnection(tx: Tx, userId: UserId, id: CloudConnectionId): Promise<boolean> {
  const { numDeletedRows } = await tx.db
    .deleteFrom("cloud_connections")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return numDeletedRows === 1n;
}

/** Name and encrypted settings of a connection of the user's. */
export async function findSettings(
  db: Reader,
  userId: UserId,
  id: CloudConnectionId,
): Promise<{ readonly name: string; readonly encryptedSettings: string } | undefined> {
  const row = await db
    .selectFrom("cloud_connections")
    .select(["user_given_name", "sealed_settings"])
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row && { name: row.user_given_name, encryptedSettings: row.sealed_settings };
}
