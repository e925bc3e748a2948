import type { TeamInvitationId, TeamRoleId, UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";

export type Invitation = {
  readonly id: TeamInvitationId;
  readonly teamId: UserId;
  readonly roleId: TeamRoleId;
  readonly email: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
};

/** Stores an invitation in place of an earlier one of the address, whose token becomes invalid. */
export async function putInvitation(
  tx: Tx,
  invitation: Pick<Invitation, "teamId" | "roleId" | "email" | "expiresAt"> & {
    readonly tokenSha256: Buffer;
    readonly invitedBy: UserId;
  },
): Promise<void> {
  const content = {
    role_id: invitation.roleId,
    token_sha256: invitation.tokenSha256,
    invited_by: invitation.invitedBy,
    created_at: tx.now,
    expires_at: invitation.expiresAt,
  };
  await tx.db
    .insertInto("team_invitations")
    .values({ team_id: invitation.teamId, email: invitation.email, ...content })
    .onConflict((conflict) => conflict.columns(["team_id", "email"]).doUpdateSet(content))
    .execute();
}

/** Invitations that can still be accepted. */
export async function listOpenInvitations(db: Reader, now: Date, teamId: UserId): Promise<readonly Invitation[]> {
  const rows = await invitations(db).where("team_id", "=", teamId).where("expires_at", ">", now).execute();
  return rows.map(toInvitation);
}

/** The open invitation with this token; undefined when it is over or replaced, or never existed. */
export async function findInvitation(db: Reader, now: Date, tokenSha256: Buffer): Promise<Invitation | undefined> {
  const row = await invitations(db)
    .where("token_sha256", "=", tokenSha256)
    .where("expires_at", ">", now)
    .executeTakeFirst();
  return row && toInvitation(row);
}

/** Deletes an invitation; false when it is gone or replaced. */
export async function deleteInvitation(tx: Tx, tokenSha256: Buffer): Promise<boolean> {
  const result = await tx.db.deleteFrom("team_invitations").where("token_sha256", "=", tokenSha256).executeTakeFirst();
  return result.numDeletedRows === 1n;
}

/** Deletes invitations of a team that can no longer be accepted. */
export async function deleteOverInvitations(tx: Tx, teamId: UserId): Promise<void> {
  await tx.db.deleteFrom("team_invitations").where("team_id", "=", teamId).where("expires_at", "<=", tx.now).execute();
}

/** Deletes all invitations of a team, or only those to one role. */
export async function deleteInvitations(tx: Tx, teamId: UserId, roleId?: TeamRoleId): Promise<void> {
  await tx.db
    .deleteFrom("team_invitations")
    .where("team_id", "=", teamId)
    .$if(roleId !== undefined, (query) => query.where("role_id", "=", roleId ?? null))
    .execute();
}

/** Number of mailed invitations to an address, and by a person, since a time; older rows are deleted. */
export async function countInvitationMails(
  tx: Tx,
  { email, invitedBy, since }: { readonly email: string; readonly invitedBy: UserId; readonly since: Date },
): Promise<{ readonly toAddress: number; readonly byPerson: number }> {
  await tx.db.deleteFrom("invitation_mails").where("sent_at", "<=", since).execute();
  const { toAddress, byPerson } = await tx.db
    .selectFrom("invitation_mails")
    .select(({ fn }) => [
      fn.countAll().filterWhere("email", "=", email).as("toAddress"),
      fn.countAll().filterWhere("invited_by", "=", invitedBy).as("byPerson"),
    ])
    .where((eb) => eb.or([eb("email", "=", email), eb("invited_by", "=", invitedBy)]))
    .executeTakeFirstOrThrow();
  return { toAddress: Number(toAddress), byPerson: Number(byPerson) };
}

export async function insertInvitationMail(tx: Tx, email: string, invitedBy: UserId): Promise<void> {
  await tx.db.insertInto("invitation_mails").values({ email, invited_by: invitedBy, sent_at: tx.now }).execute();
}

function invitations(db: Reader) {
  return db.selectFrom("team_invitations").select(["id", "team_id", "role_id", "email", "created_at", "expires_at"]);
}

type InvitationRow = Awaited<ReturnType<ReturnType<typeof invitations>["executeTakeFirstOrThrow"]>>;

function toInvitation(row: InvitationRow): Invitation {
  return {
    id: row.id,
    teamId: row.team_id,
    roleId: row.role_id,
    email: row.email,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
