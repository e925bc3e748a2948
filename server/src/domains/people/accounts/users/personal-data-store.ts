import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import { PERSONAL_ROWS_MAX, type PersonalData, type PersonalRows } from "../../../../base/personal-data.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

/** Data of a person that the domain keeps, without anything that opens something. */
export async function collectAccountData(db: Reader, userId: UserId): Promise<PersonalData> {
  const { rows: account } = await sql<PersonalRows[number]>`
    select id, email, username, fullname, billaddress_line1, billaddress_line2, billaddress_city, billaddress_zip,
      billaddress_country, taxinfo, email_proven_at, tfa_enabled_at, created_at, deleted_at
    from users where id = ${userId}
  `.execute(db);
  const { rows: keys } = await sql<PersonalRows[number]>`
    select id, name, kind, permissions, ip_address, created_at, expires_at, deleted_at from api_keys
    where user_id = ${userId} order by id desc limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  const { rows: sshKeys } = await sql<PersonalRows[number]>`
    select id, public_key, created_at, deleted_at from ssh_keys where user_id = ${userId} order by id limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  const { rows: searches } = await sql<PersonalRows[number]>`
    select id, name, query, created_at from saved_searches where user_id = ${userId} order by id limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  const { rows: secrets } = await sql<PersonalRows[number]>`
    select name, created_at from account_secrets where user_id = ${userId} order by name limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  const { rows: addresses } = await sql<PersonalRows[number]>`
    select ip_address, first_seen_at, last_seen_at, request_count from ip_accesses
    where user_id = ${userId} order by id desc limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  const { rows: acts } = await sql<PersonalRows[number]>`
    select id, api_key_id, ip_address, action, arguments, created_at from audit_events
    where user_id = ${userId} order by id desc limit ${PERSONAL_ROWS_MAX}
  `.execute(db);
  return { account, keys, ssh_keys: sshKeys, saved_searches: searches, secret_names: secrets, addresses, acts };
}

/**
 * Ends an account and takes the person out of it. The audit log and what was booked stay, under the number of the account.
 * Its e-mail address may be used again.
 */
export async function eraseAccountData(tx: Tx, userId: UserId): Promise<void> {
  const { db, now } = tx;
  await sql`
    delete from session_uses where session_id in (select id from api_keys where user_id = ${userId})
  `.execute(db);
  await sql`
    update api_keys set deleted_at = coalesce(deleted_at, ${now}::timestamptz), name = 'deleted', ip_address = null
    where user_id = ${userId}
  `.execute(db);
  await sql`delete from account_secrets where user_id = ${userId}`.execute(db);
  await sql`delete from saved_searches where user_id = ${userId}`.execute(db);
  await sql`delete from ip_accesses where user_id = ${userId}`.execute(db);
  await sql`delete from email_proofs where user_id = ${userId}`.execute(db);
  await sql`
    delete from instance_ssh_keys where ssh_key_id in (select id from ssh_keys where user_id = ${userId})
  `.execute(db);
  await sql`delete from ssh_keys where user_id = ${userId}`.execute(db);
  await sql`
    update users set email = 'deleted-' || id || '@invalid', username = 'deleted-' || id, fullname = '', ssh_key = '',
      password_hash = null, email_proven_at = null, email_proven_by = null, tfa_enabled_at = null,
      billaddress_line1 = '', billaddress_line2 = '', billaddress_city = '', billaddress_zip = '',
      billaddress_country = '', taxinfo = '', balance_threshold_enabled = false, deleted_at = ${now}::timestamptz
    where id = ${userId}
  `.execute(db);
}
