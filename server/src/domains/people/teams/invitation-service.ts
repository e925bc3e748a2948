import { createHash } from "node:crypto";
import type { Caller } from "../../../base/identity.ts";
import { AppError, invalid, notFound } from "../../../base/errors.ts";
import type { ApiKeyId, UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import {
  findProvenUser,
  insertApiKey,
  insertMember,
  isDemanding,
  listMembers,
  listRoles,
  notForTeams,
  parseEmail,
  requireProven,
  type TeamRole,
} from "../accounts/for-teams.ts";
import { lockUser, newKey, recordAudit, requireUser } from "../accounts/index.ts";
import { postNotifications } from "../../notifications/index.ts";
import { lockOwnTeam, requireWithin } from "./authority.ts";
import {
  countInvitationMails,
  deleteInvitation,
  deleteOverInvitations,
  findInvitation,
  insertInvitationMail,
  listOpenInvitations,
  putInvitation,
} from "./invitation-store.ts";
import { requireAssignable } from "./member-service.ts";
import { findNamedRole } from "./role-service.ts";
import type { TeamMeans } from "./team-service.ts";
import { lockTeam, type Team } from "./team-store.ts";

/** An invitation can be accepted for four hours. */
const VALID_MS = 4 * 3_600_000;
/** Least time between two invitations of one address. */
const REPEAT_MS = 600_000;
const TOKEN_BYTES = 32;
const DAY_MS = 86_400_000;
/** Mailed invitations per day: to one address by all teams, and by one person for all teams. */
const MAILS_PER_ADDRESS = 5;
const MAILS_PER_INVITER = 100;
/** Members and open invitations of one team. */
export const PEOPLE_MAX = 200;

export type NewInvitation = {
  readonly email: string;
  /** Shown to the inviter and mailed to the address; valid only with a key of an account that has that address. */
  readonly token: string;
  readonly expiresAt: Date;
  /** The reason why no mail was sent; undefined when the token was mailed, or where no mail server is set up. */
  readonly unmailed: string | undefined;
};

/**
 * Invites the person with this address, with or without an account: the answer is the same. The token goes to the
 * address by mail, and into no notification. Without a mail server the inviter hands it over.
 */
export async function inviteMember(
  tx: Tx,
  { identity, ipAddress }: Caller,
  asked: { readonly email: string | undefined; readonly role: string | undefined },
  { random, queueMail }: Pick<TeamMeans, "random" | "queueMail">,
): Promise<NewInvitation> {
  if (identity.memberId === undefined)
    throw new AppError("invalid", "not_a_team_member", "User is a not a team member");
  const { team, memberId } = await lockOwnTeam(tx, identity);
  const email = parseEmail(asked.email);
  if (asked.role === undefined) throw invalid("role", "role is required");
  const role = await findNamedRole(tx.db, team.id, { name: asked.role });
  requireAssignable(role);
  requireWithin(identity, role.permissions, `A ${role.name}`);
  const [members, open] = [await listMembers(tx.db, team.id), await listOpenInvitations(tx.db, tx.now, team.id)];
  const inviter = members.find(({ id }) => id === memberId);
  const known = members.find((member) => member.email === email);
  if (known !== undefined && known.id === memberId) {
    throw new AppError("invalid", "own_team", "User cannot be invited to their own team.");
  }
  if (known !== undefined) throw new AppError("invalid", "already_member", "User is already a member of this team.");
  const former = open.find((invitation) => invitation.email === email);
  if (former !== undefined) refuseRepetition(email, tx.now.getTime() - former.createdAt.getTime());
  if (former === undefined && members.length + open.length >= PEOPLE_MAX) {
    throw new AppError("invalid", "too_many_members", `A team has at most ${PEOPLE_MAX} members and open invitations.`);
  }
  await deleteOverInvitations(tx, team.id);
  const token = random(TOKEN_BYTES).toString("base64url");
  const expiresAt = new Date(tx.now.getTime() + VALID_MS);
  const tokenSha256 = hashOf(token);
  await putInvitation(tx, { teamId: team.id, roleId: role.id, email, expiresAt, tokenSha256, invitedBy: memberId });
  const invited = await findProvenUser(tx.db, email);
  const invitation = { team, role, inviter: inviter?.username ?? "", tokenSha256 };
  const unmailed = queueMail === undefined ? undefined : await refuseMail(tx, email, memberId);
  if (unmailed === undefined) {
    if (invited !== undefined) await postNotifications(tx, [notificationOf(invited.id, invitation)]);
    await queueMail?.(tx, { to: email, ...mailOf(invitation, token), expiresAt });
  }
  const args = { email, role: role.identifier };
  await recordAudit(tx, identity, { ipAddress, action: "api.team.invite", args });
  return { email, token, expiresAt, unmailed };
}

/**
 * Counts a mail to this address, or returns the reason why none is sent: the names in an invitation are the inviter's
 * words, which nobody may mail to strangers at will. The token is valid all the same.
 */
async function refuseMail(tx: Tx, email: string, invitedBy: UserId): Promise<string | undefined> {
  await lockUser(tx, invitedBy);
  if (!(await requireUser(tx.db, invitedBy)).isEmailProven) return "your own address is not proven";
  const since = new Date(tx.now.getTime() - DAY_MS);
  const { toAddress, byPerson } = await countInvitationMails(tx, { email, invitedBy, since });
  if (toAddress >= MAILS_PER_ADDRESS) return "the address was mailed enough invitations today";
  if (byPerson >= MAILS_PER_INVITER) return `you had ${MAILS_PER_INVITER} invitations mailed today`;
  await insertInvitationMail(tx, email, invitedBy);
  return undefined;
}

export type Joined = {
  readonly team: Team;
  readonly role: TeamRole;
  readonly keyId: ApiKeyId;
  /** The new member's key of the team, shown only in this answer. */
  readonly secret: string;
};

/**
 * Makes the caller a member of the team that invited the caller's address, with a key for the team that has the calling
 * key's permissions, within the role. An invitation is for one person and can be accepted once.
 */
export async function acceptInvitation(
  tx: Tx,
  { identity, ipAddress }: Caller,
  token: string,
  { random, refuseNewKeys, queueMail }: Pick<TeamMeans, "random" | "refuseNewKeys" | "queueMail">,
): Promise<Joined> {
  if (identity.memberId !== undefined) throw notForTeams("A team is no member of another. Use a key of your own.");
  await refuseNewKeys(tx, identity, undefined);
  const user = await requireUser(tx.db, identity.userId);
  const tokenSha256 = hashOf(token);
  const invitation = await findInvitation(tx.db, tx.now, tokenSha256);
  if (invitation === undefined || invitation.email !== user.email) throw noSuchInvitation();
  // With a mail server, only a proven address counts. Without one, the token that the inviter handed over is enough.
  if (queueMail !== undefined) requireProven(user);
  const { teamId, roleId } = invitation;
  // A concurrent request with the same token waits here, and then finds it used.
  const team = await lockTeam(tx, teamId);
  if (team === undefined || !(await deleteInvitation(tx, tokenSha256))) throw noSuchInvitation();
  const role = (await listRoles(tx.db, teamId)).find(({ id }) => id === roleId);
  if (role === undefined) throw noSuchInvitation();
  const memberId = identity.userId;
  if (!(await insertMember(tx, { teamId, memberId, roleId }))) {
    throw new AppError("invalid", "already_member", "You are a member of this team already.");
  }
  const key = newKey(random);
  const { permissions } = identity;
  const demandsTfa = await isDemanding(tx, identity);
  const made = { userId: teamId, memberId, name: role.identifier, key, permissions, demandsTfa };
  const keyId = await insertApiKey(tx, made);
  const audited = { ipAddress, action: "api.team.accept_invite", args: { team_id: teamId, role: role.identifier } };
  await recordAudit(tx, identity, audited);
  await recordAudit(tx, { userId: teamId, apiKeyId: keyId, memberId }, audited);
  return { team, role, keyId, secret: key.secret };
}

function refuseRepetition(email: string, elapsedMs: number): void {
  if (elapsedMs >= REPEAT_MS) return;
  const seconds = Math.floor(elapsedMs / 1000);
  const message = `Error: invitation already sent to ${email} only ${seconds} seconds ago.`;
  const extra = { detail: message, retry_after_ms: REPEAT_MS - elapsedMs };
  throw new AppError("rate_limited", "rate_limited", message, { extra });
}

type Invited = {
  readonly team: Team;
  readonly role: TeamRole;
  readonly inviter: string;
  readonly tokenSha256: Buffer;
};

function mailOf({ team, role, inviter }: Invited, token: string) {
  const text = [
    `${inviter} invites you to the team ${team.name}, as ${role.name}. To accept within 4 hours, with a key of an account`,
    "that has this address and has proven it:",
    "",
    `  berth team accept ${token}`,
    "",
  ].join("\n");
  return { subject: `${inviter} invites you to the team ${team.name}`, text };
}

/** Each key of the account that may read notifications can read it, and webhooks get it: so the token is not in it. */
function notificationOf(userId: UserId, { team, role, inviter, tokenSha256 }: Invited) {
  return {
    userId,
    kind: "client:team_invite" as const,
    subject: `${inviter} invites you to the team ${team.name}`,
    message:
      `${inviter} invites you to the team ${team.name}, as ${role.name}. ` +
      `To accept within 4 hours, use the token that was mailed to your address, or that ${inviter} hands you.`,
    key: `team_invite:${tokenSha256.toString("hex")}`,
  };
}

/** The token is 256 random bits, so a plain hash is enough. */
function hashOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

/** One error for invitations that are absent, used, expired, replaced or another user's. */
function noSuchInvitation(): AppError {
  return notFound("no_such_invitation", "You have no invitation with this token, or it has expired.");
}
