import { sql } from "kysely";
import type { UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { CLAIM_EMAIL_DOMAIN } from "./rules/user.ts";

/**
 * Mailboxes for notifications of those of these users whose accounts are live: the account's own address, or that of a
 * team's owner. Undefined for an unproven address: it may be a stranger's, to whom nobody may send mail through this
 * server.
 */
export async function listMailboxes(
  db: Reader,
  userIds: readonly UserId[],
): Promise<ReadonlyMap<UserId, string | undefined>> {
  const { rows } = await sql<{ id: UserId; email: string | null }>`
    select u.id, case when u.is_team then owner.email when u.email_proven_at is not null then u.email end as email
    from users u
    left join (
      team_members m
      join team_roles r on r.id = m.role_id and r.identifier = 'owner'
      join users owner on owner.id = m.member_id and owner.deleted_at is null and owner.email_proven_at is not null
    ) on m.team_id = u.id
    where u.id = any(${userIds}::integer[]) and u.deleted_at is null
  `.execute(db);
  return new Map(rows.map(({ id, email }) => [id, email ?? undefined]));
}

/** E-mail addresses of those of these users whose accounts are live; a team has that of its owner. */
export async function listAddresses(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, string>> {
  const { rows } = await sql<{ id: UserId; email: string }>`
    select u.id, case when u.is_team then owner.email else u.email end as email
    from users u
    left join (
      team_members m
      join team_roles r on r.id = m.role_id and r.identifier = 'owner'
      join users owner on owner.id = m.member_id and owner.deleted_at is null
    ) on m.team_id = u.id
    where u.id = any(${userIds}::integer[]) and u.deleted_at is null and (owner.email is not null or not u.is_team)
      and coalesce(owner.email, u.email) not like ${`%@${CLAIM_EMAIL_DOMAIN}`}
  `.execute(db);
  return new Map(rows.map(({ id, email }) => [id, email]));
}
