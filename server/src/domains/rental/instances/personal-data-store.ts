import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import { PERSONAL_ROWS_MAX, type PersonalData, type PersonalRows } from "../../../base/personal-data.ts";
import type { Reader } from "../../../db/transaction.ts";

/** Instances that a person rented, the newest first, without what was in them. */
export async function collectInstanceData(db: Reader, userId: UserId): Promise<PersonalData> {
  const { rows: instances } = await sql<PersonalRows[number]>`
    select id, machine_id, label, is_bid, device_count, disk_bytes::text as disk_bytes, created_at, ended_at
    from instances where user_id = ${userId} order by id desc limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  return { instances };
}
