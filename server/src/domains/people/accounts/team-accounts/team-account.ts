import type { Caller } from "../../../../base/identity.ts";
import { forbidden } from "../../../../base/errors.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { ApiKeyId, TeamRoleId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { ADMIN_KEY_NAME } from "../admin/bootstrap.ts";
import { noSuchKey } from "../keys/service.ts";
import { deleteTeamKeys, findApiKey, insertApiKey, listApiKeys, moveApiKey } from "../keys/store.ts";
import { newKey, type RandomBytes } from "../keys/rules/keys.ts";
import { deleteMembersAndRoles, insertMember, insertRole } from "./member-store.ts";
import { isWithin } from "../keys/rules/permissions.ts";
import { DEFAULT_ROLES } from "./rules/roles.ts";
import { insertUser, lockUser, markUserDeleted } from "../users/store.ts";
import { TEAM_EMAIL_DOMAIN } from "../users/rules/user.ts";

const PERSONAL_KEY_NAME = "personal";
const ADDRESS_BYTES = 12;

export type NewTeamAccount = {
  readonly teamId: UserId;
  /**
   * Another personal key with the permissions of the key that became the team's, for a caller who had no other key with
   * them.
   */
  readonly personalSecret: string | undefined;
};

/**
 * Creates the account of a team with its default roles, and makes the caller its owner. The calling key becomes the
 * team's: its secret and its permissions stay, but it acts as the team. A caller without another personal key of these
 * permissions gets one.
 */
export async function openTeamAccount(
  tx: Tx,
  { identity }: Caller,
  { name, random }: { readonly name: string; readonly random: RandomBytes },
): Promise<NewTeamAccount> {
  const { userId: founderId, apiKeyId } = identity;
  // Locked, so that two keys that become two teams' at once do not each count the other as the personal key that is
  // left.
  await lockUser(tx, founderId);
  const key = await findApiKey(tx.db, identity, apiKeyId);
  if (key === undefined) throw noSuchKey();
  if (identity.isAdmin && key.name === ADMIN_KEY_NAME) {
    throw forbidden(
      "The operator's key would become the team's. Make another key first, and create the team with that.",
      "not_allowed",
    );
  }
  const email = `team-${random(ADDRESS_BYTES).toString("hex")}@${TEAM_EMAIL_DOMAIN}`;
  const teamId = await insertUser(tx, { email, username: name, isTeam: true, provenBy: "server" });
  invariant(teamId !== undefined, "the address of a new team was taken");
  const roles = await insertDefaultRoles(tx, teamId);
  await insertMember(tx, { teamId, memberId: founderId, roleId: roles.owner });
  const others = (await listApiKeys(tx.db, identity)).filter(({ id }) => id !== apiKeyId);
  const hasOther = others.some(({ permissions }) => isWithin(key.permissions, permissions));
  const personal = hasOther ? undefined : newKey(random);
  if (personal !== undefined) {
    const { permissions } = key;
    await insertApiKey(tx, { userId: founderId, name: PERSONAL_KEY_NAME, key: personal, permissions });
  }
  const isMoved = await moveApiKey(tx, apiKeyId, { from: identity, to: { userId: teamId, memberId: founderId } });
  if (!isMoved) throw noSuchKey();
  return { teamId, personalSecret: personal?.secret };
}

/**
 * Ends the account of a team, its keys and its memberships. When the founder is the owner who ends it, the founding key
 * becomes personal again: no other key ever acted for more than the team. Returns that key, and all keys that changed.
 */
export async function closeTeamAccount(
  tx: Tx,
  {
    teamId,
    ownerId,
    foundingKeyId,
  }: { readonly teamId: UserId; readonly ownerId: UserId; readonly foundingKeyId: ApiKeyId },
): Promise<{ readonly returnedKeyId: ApiKeyId | undefined; readonly changedKeyIds: readonly ApiKeyId[] }> {
  const isReturned = await moveApiKey(tx, foundingKeyId, {
    from: { userId: teamId, memberId: ownerId },
    to: { userId: ownerId, memberId: undefined },
  });
  const deleted = await deleteTeamKeys(tx, teamId);
  await deleteMembersAndRoles(tx, teamId);
  await markUserDeleted(tx, teamId);
  return { returnedKeyId: isReturned ? foundingKeyId : undefined, changedKeyIds: [...deleted, foundingKeyId] };
}

async function insertDefaultRoles(tx: Tx, teamId: UserId): Promise<Readonly<Record<"owner", TeamRoleId>>> {
  const [owner, ...others] = DEFAULT_ROLES;
  const insert = (identifier: string) => {
    const name = `${identifier[0]?.toUpperCase() ?? ""}${identifier.slice(1)}`;
    return insertRole(tx, teamId, { name, identifier, permissions: undefined });
  };
  const roles = { owner: await insert(owner) };
  for (const identifier of others) await insert(identifier);
  return roles;
}
