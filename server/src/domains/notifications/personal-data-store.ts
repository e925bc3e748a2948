import { sql } from "kysely";
import type { UserId } from "../../base/ids.ts";
import { PERSONAL_ROWS_MAX, type PersonalData, type PersonalRows } from "../../base/personal-data.ts";
import type { Reader, Tx } from "../../db/transaction.ts";

/** Notifications of a person, the newest first. */
export async function collectNotificationData(db: Reader, userId: UserId): Promise<PersonalData> {
  const { rows: notifications } = await sql<PersonalRows[number]>`
    select id, kind, subject, message, created_at, read_at from notices
    where user_id = ${userId} order by id desc limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  return { notifications };
}

/** Deletes the notifications of a person, and the ways in which they wanted them. */
export async function eraseNotificationData({ db }: Tx, userId: UserId): Promise<void> {
  await sql`delete from notice_deliveries where user_id = ${userId}`.execute(db);
  await sql`delete from notices where user_id = ${userId}`.execute(db);
  await sql`delete from notice_preferences where user_id = ${userId}`.execute(db);
  await sql`delete from webhooks where user_id = ${userId}`.execute(db);
}
