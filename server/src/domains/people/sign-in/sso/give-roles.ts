import type { UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit, requireUser } from "../../accounts/index.ts";
import { renewCookiesOf, setAdmin, tellAdministrators } from "../../accounts/for-sign-in.ts";
import type { SignInMeans } from "../means.ts";
import { deleteGivenRole, insertGivenRole, listGivenRoles } from "./grant-store.ts";
import type { SsoMeans } from "./means.ts";
import type { WantedRoles } from "./rules/group-roles.ts";

type Person = { readonly userId: UserId; readonly ipAddress: string };

/**
 * Gives a person the roles of their groups, and takes away those that a group gave before and none gives now. Roles that
 * people gave stay as they are. Teams are locked in id order, before the account.
 */
export async function giveRoles(
  tx: Tx,
  { userId, ipAddress }: Person,
  wanted: WantedRoles,
  means: { readonly sso: SsoMeans; readonly identities: SignInMeans["identities"] },
): Promise<void> {
  const { sso, identities } = means;
  const given = await listGivenRoles(tx, userId);
  const teamIds = [...new Set([...given.teamIds, ...wanted.teams.keys()])].toSorted((a, b) => a - b);
  for (const teamId of teamIds) {
    const [role, isAppointed] = [wanted.teams.get(teamId), given.teamIds.has(teamId)];
    const appointment = { teamId, memberId: userId, ipAddress };
    if (role === undefined) {
      await sso.dismissMember(tx, appointment);
      await deleteGivenRole(tx, userId, teamId);
      continue;
    }
    const outcome = await sso.appointMember(tx, { ...appointment, role, isAppointed });
    if (outcome === "appointed") await insertGivenRole(tx, userId, teamId);
    else if (outcome !== "others") {
      const text = "a group of single sign-on gives a role that cannot be given";
      sso.log.warn({ user_id: userId, team_id: teamId, role, reason: outcome }, text);
    }
  }
  await giveAdministration(tx, { userId, ipAddress }, { isWanted: wanted.isAdmin, isGiven: given.isAdmin });
  tx.afterCommit(() => identities.forgetUser(userId));
}

async function giveAdministration(
  tx: Tx,
  { userId, ipAddress }: Person,
  { isWanted, isGiven }: { readonly isWanted: boolean; readonly isGiven: boolean },
): Promise<void> {
  const { isAdmin, username } = await requireUser(tx.db, userId);
  // Whom people made an administrator stays one without any group.
  if (isWanted ? isAdmin : !isGiven) return;
  if (isWanted) await insertGivenRole(tx, userId, undefined);
  else await deleteGivenRole(tx, userId, undefined);
  if (isWanted === isAdmin) return;
  await setAdmin(tx, userId, isWanted);
  if (isWanted) await renewCookiesOf(tx, userId);
  const action = isWanted ? "api.sso.make_administrator" : "api.sso.unmake_administrator";
  await recordAudit(tx, { userId }, { ipAddress, action, args: { user_id: userId } });
  await tellAdministrators(tx, {
    subject: isWanted ? `${username} is an administrator now` : `${username} is no administrator any more`,
    message: `A group of single sign-on ${isWanted ? "gave" : "no longer gives"} account ${userId} the right of an administrator.`,
    key: `${action}:${userId}:${tx.now.getTime()}`,
  });
}
