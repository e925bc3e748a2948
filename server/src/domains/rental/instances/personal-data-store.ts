import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { Reader } from "../../../db/transaction.ts";

const ROWS_MAX = 10_000;

type Rows = readonly Readonly<Record<string, unknown>>[];

/** Instances that a person rented, the newest first, without what was in them. */
export async function collectInstanceData(db: Reader, userId: UserId): Promise<Readonly<Record<string, Rows>>> {
  const { rows: instances } = await sql<Rows[number]>`
    select id, machine_id, label, is_bid, device_count, disk_bytes::text as disk_bytes, created_at, ended_at
    from instances where user_id = ${userId} order by id desc limit ${ROWS_MAX}
  `.execute(db);
  return { instances };
}
