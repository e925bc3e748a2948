import { sql } from "kysely";
import type { UserId } from "../../../base/ids.ts";
import type { PersonalData, PersonalRows } from "../../../base/personal-data.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

/** The ways in which a person signs in, without their secrets. */
export async function collectSignInData(db: Reader, userId: UserId): Promise<PersonalData> {
  const { rows: passkeys } = await sql<PersonalRows[number]>`
    select id, label, created_at, last_used_at, deleted_at from passkeys where user_id = ${userId} order by id
  `.execute(db);
  const { rows: factors } = await sql<PersonalRows[number]>`
    select id, method, label, created_at, last_used_at, deleted_at from tfa_methods
    where user_id = ${userId} order by id
  `.execute(db);
  const { rows: identities } = await sql<PersonalRows[number]>`
    select issuer, subject, created_at, last_used_at from sso_identities where user_id = ${userId} order by id
  `.execute(db);
  return { passkeys, second_factors: factors, single_sign_on: identities };
}

/** Deletes every way in which a person signs in. */
export async function eraseSignInData({ db, now }: Tx, userId: UserId): Promise<void> {
  await sql`delete from passkeys where user_id = ${userId}`.execute(db);
  await sql`delete from tfa_backup_codes where user_id = ${userId}`.execute(db);
  await sql`delete from tfa_challenges where user_id = ${userId}`.execute(db);
  await sql`delete from tfa_methods where user_id = ${userId}`.execute(db);
  await sql`delete from tfa_setups where user_id = ${userId}`.execute(db);
  await sql`delete from tfa_sends where user_id = ${userId}`.execute(db);
  await sql`delete from sso_identities where user_id = ${userId}`.execute(db);
  await sql`delete from sso_grants where user_id = ${userId}`.execute(db);
  await sql`
    update sign_in_tokens set email = null, revoked_at = coalesce(revoked_at, ${now}::timestamptz)
    where user_id = ${userId}
  `.execute(db);
}
