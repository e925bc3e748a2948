// Memberships that a group of single sign-on gives, on the word of the operator's settings and of nobody in the team.
import type { UserId } from "../../../base/ids.ts";
import type { Tx } from "../../../db/transaction.ts";
import {
  deleteMember,
  deleteTeamKeys,
  findMember,
  insertMember,
  listMembers,
  setMemberRole,
  type TeamRole,
} from "../accounts/for-teams.ts";
import { recordAudit } from "../accounts/index.ts";
import { AppError } from "../../../base/errors.ts";
import { PEOPLE_MAX } from "./invitation-service.ts";
import { findNamedRole } from "./role-service.ts";
import type { TeamMeans } from "./team-service.ts";
import { lockTeam } from "./team-store.ts";

type Appointment = { readonly teamId: UserId; readonly memberId: UserId; readonly ipAddress: string };

/**
 * Makes a person a member of a team, without a key. A member whom people invited keeps the role that people gave; that of
 * one who was appointed follows the settings. The owner's role is given to nobody.
 */
export async function appointMember(
  tx: Tx,
  {
    teamId,
    memberId,
    role: roleName,
    isAppointed,
    ipAddress,
  }: Appointment & {
    readonly role: string;
    readonly isAppointed: boolean;
  },
  { identities }: Pick<TeamMeans, "identities">,
): Promise<"appointed" | "others" | "no_team" | "no_role" | "no_room"> {
  const team = await lockTeam(tx, teamId);
  if (team === undefined) return "no_team";
  const role = await findRole(tx, teamId, roleName);
  if (role === undefined || role.identifier === "owner") return "no_role";
  const known = await findMember(tx.db, teamId, memberId);
  if (known !== undefined && (!isAppointed || known.role.identifier === "owner")) return "others";
  if (known?.role.id === role.id) return "appointed";
  if (known === undefined) {
    if ((await listMembers(tx.db, teamId)).length >= PEOPLE_MAX) return "no_room";
    await insertMember(tx, { teamId, memberId, roleId: role.id });
  } else await setMemberRole(tx, { teamId, memberId, roleId: role.id });
  const args = { appointed_id: memberId, role: role.identifier, former_role: known?.role.identifier ?? null };
  await auditBoth(tx, { teamId, memberId, ipAddress }, "api.sso.appoint_member", args);
  tx.afterCommit(() => identities.forgetUser(teamId));
  return "appointed";
}

/** Ends a membership that a group gave, with the keys of it; that of a person who became the owner stays. */
export async function dismissMember(
  tx: Tx,
  appointment: Appointment,
  { identities, freezeAbandoned }: Pick<TeamMeans, "identities" | "freezeAbandoned">,
): Promise<void> {
  const { teamId, memberId } = appointment;
  if ((await lockTeam(tx, teamId)) === undefined) return;
  const known = await findMember(tx.db, teamId, memberId);
  if (known === undefined || known.role.identifier === "owner") return;
  // Done first: a concurrent creation of a key for this member is either finished, or finds no member.
  await deleteMember(tx, teamId, memberId);
  const keyIds = await deleteTeamKeys(tx, teamId, memberId);
  await freezeAbandoned(tx, teamId);
  const args = { dismissed_id: memberId, role: known.role.identifier, key_ids: keyIds };
  await auditBoth(tx, appointment, "api.sso.dismiss_member", args);
  tx.afterCommit(() => identities.forgetUser(teamId));
}

async function findRole(tx: Tx, teamId: UserId, name: string): Promise<TeamRole | undefined> {
  try {
    return await findNamedRole(tx.db, teamId, { name });
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

async function auditBoth(
  tx: Tx,
  { teamId, memberId, ipAddress }: Appointment,
  action: string,
  args: Readonly<Record<string, unknown>>,
): Promise<void> {
  await recordAudit(tx, { userId: memberId }, { ipAddress, action, args: { ...args, team_id: teamId } });
  await recordAudit(tx, { userId: teamId, memberId }, { ipAddress, action, args });
}
