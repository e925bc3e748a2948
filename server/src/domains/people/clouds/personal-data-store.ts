import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";

/** Deletes the connections of a person to cloud storage, with the secrets in them. */
export async function eraseCloudData({ db }: Tx, userId: UserId): Promise<void> {
  await sql`delete from cloud_connections where user_id = ${userId}`.execute(db);
}
