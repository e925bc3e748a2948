import type { Identity } from "../../../../base/identity.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { ApiKeyId, TeamRoleId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { deleteTeamKeys, findApiKey, insertApiKey, moveApiKey } from "../keys/store.ts";
import { isDemanding } from "../keys/service.ts";
import { newKey, type RandomBytes } from "../keys/rules/keys.ts";
import { deleteMembersAndRoles, insertMember, insertRole } from "./member-store.ts";
import { DEFAULT_ROLES } from "./rules/roles.ts";
import { insertUser, markUserDeleted } from "../users/store.ts";
import { TEAM_EMAIL_DOMAIN } from "../users/rules/user.ts";

const ADDRESS_BYTES = 12;

/** The account of a new team, and the key by which its owner acts for it. */
export type NewTeamAccount = { readonly teamId: UserId; readonly keyId: ApiKeyId; readonly secret: string };

/**
 * Creates the account of a team with its default roles, makes the caller its owner, and makes a key of the team with the
 * permissions of the calling key, which stays the caller's own, and with its demand for a second factor.
 */
export async function openTeamAccount(
  tx: Tx,
  identity: Identity,
  { name, random }: { readonly name: string; readonly random: RandomBytes },
): Promise<NewTeamAccount> {
  const { userId: founderId, permissions } = identity;
  const email = `team-${random(ADDRESS_BYTES).toString("hex")}@${TEAM_EMAIL_DOMAIN}`;
  const teamId = await insertUser(tx, { email, username: name, isTeam: true, provenBy: "server" });
  invariant(teamId !== undefined, "the address of a new team was taken");
  const roles = await insertDefaultRoles(tx, teamId);
  await insertMember(tx, { teamId, memberId: founderId, roleId: roles.owner });
  const key = newKey(random);
  const [role] = DEFAULT_ROLES;
  const demandsTfa = await isDemanding(tx, identity);
  const made = { userId: teamId, memberId: founderId, name: role, key, permissions, demandsTfa };
  const keyId = await insertApiKey(tx, made);
  return { teamId, keyId, secret: key.secret };
}

/**
 * Ends the account of a team, its keys and its memberships. Returns the key that made the team, if it is a personal key
 * of the owner who ends it, and all keys that changed. A team of an earlier version has that key, which then was made
 * the team's; it becomes personal again, since no other key ever acted for more than the team.
 */
export async function closeTeamAccount(
  tx: Tx,
  {
    teamId,
    ownerId,
    foundingKeyId,
  }: { readonly teamId: UserId; readonly ownerId: UserId; readonly foundingKeyId: ApiKeyId },
): Promise<{ readonly personalKeyId: ApiKeyId | undefined; readonly changedKeyIds: readonly ApiKeyId[] }> {
  const owner = { userId: ownerId, memberId: undefined };
  await moveApiKey(tx, foundingKeyId, { from: { userId: teamId, memberId: ownerId }, to: owner });
  const deleted = await deleteTeamKeys(tx, teamId);
  await deleteMembersAndRoles(tx, teamId);
  await markUserDeleted(tx, teamId);
  const personal = await findApiKey(tx.db, owner, foundingKeyId);
  return { personalKeyId: personal?.id, changedKeyIds: [...deleted, foundingKeyId] };
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
