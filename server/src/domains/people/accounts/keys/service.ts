import { forbidden, invalid, notFound, type AppError } from "../../../../base/errors.ts";
import type { Caller, Identity } from "../../../../base/identity.ts";
import { asId, type ApiKeyId, type UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { recordAudit } from "../audit-log/store.ts";
import { findUserByEmailOrId, noSuchUser } from "../users/find-user.ts";
import type { Identities } from "./identities.ts";
import {
  countApiKeys,
  deleteApiKey,
  endSessionsOpenedBy,
  findApiKey,
  insertApiKey,
  replaceSecret,
  type KeyHolder,
} from "./store.ts";
import { newKey, type NewKey, type RandomBytes } from "./rules/keys.ts";
import { lockMembership } from "../team-accounts/member-store.ts";
import { isWithin, parsePermissions, type Permissions } from "./rules/permissions.ts";
import { requireRoom } from "../room.ts";
import type { AdminCreateKeyBody, CreateKeyBody } from "../schema.ts";
import { notForTeams } from "../users/rules/user.ts";

/** More than the people and programs of any account need. */
const API_KEYS_MAX = 1_000;

type IssuedKey = { readonly id: ApiKeyId; readonly secret: string; readonly permissions: Permissions };

/**
 * Creates a key of the caller, or one by which the caller acts for a team. Without permissions in the request it gets
 * those of the calling key; with more than those the answer is `missing_permissions`. For a team, the role of the key's
 * holder limits it as well.
 */
export async function createKey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: CreateKeyBody,
  random: RandomBytes,
): Promise<IssuedKey> {
  const permissions = body.permissions === undefined ? identity.permissions : parsePermissions(body.permissions);
  if (!isWithin(permissions, identity.permissions)) {
    throw forbidden("A key cannot grant more than the key that creates it.", "missing_permissions");
  }
  const { name, key_params: keyParams = "" } = body;
  const holder = await holderOf(tx, identity, body.team_id === undefined ? undefined : asId<UserId>(body.team_id));
  await requireRoomForKey(tx, holder.userId);
  const key = newKey(random);
  const id = await insertApiKey(tx, {
    ...holder,
    name,
    key,
    permissions,
    keyParams: typeof keyParams === "string" ? keyParams : JSON.stringify(keyParams),
    demandsTfa: (body.demands_tfa ?? false) || (await isDemanding(tx, identity)),
  });
  const team = holder.userId === identity.userId ? {} : { team_id: holder.userId };
  const args = { id, name, key_prefix: key.prefix, permissions: permissions ?? false, ...team };
  await recordAudit(tx, identity, { ipAddress, action: "api.apikey.create", args });
  return { id, secret: key.secret, permissions };
}

/** True for a key that demands a second factor: it makes no key that does not, be there a second factor yet or not. */
export async function isDemanding(tx: Tx, identity: Identity): Promise<boolean> {
  return (await findApiKey(tx.db, identity, identity.apiKeyId))?.demandsTfa ?? false;
}

function requireRoomForKey(tx: Tx, userId: UserId): Promise<void> {
  const count = () => countApiKeys(tx.db, userId);
  return requireRoom(tx, userId, { count, max: API_KEYS_MAX, field: "name", what: "API keys" });
}

/** The holder of the new key. A team's key needs a member, whose membership is locked until the commit. */
async function holderOf(tx: Tx, identity: Identity, asked: UserId | undefined): Promise<KeyHolder> {
  const { userId, memberId } = identity;
  const teamId = asked ?? (memberId === undefined ? undefined : userId);
  if (teamId === undefined) return { userId, memberId };
  if (memberId !== undefined && teamId !== userId) throw notForTeams("A team's key makes keys of its own team only.");
  const person = memberId ?? userId;
  if (!(await lockMembership(tx, teamId, person))) {
    throw notFound("no_such_team", `You are not a member of team ${teamId}.`);
  }
  return { userId: teamId, memberId: person };
}

/** Creates a key for another user, named by e-mail address or id. */
export async function createKeyAsAdmin(
  tx: Tx,
  { identity, ipAddress }: Caller,
  body: AdminCreateKeyBody,
  random: RandomBytes,
): Promise<{ readonly userId: UserId; readonly email: string; readonly keyId: ApiKeyId; readonly secret: string }> {
  const user = await findUserByEmailOrId(tx.db, body.email);
  if (user === undefined) throw noSuchUser(body.email);
  if (user.isTeam) throw invalid("email", "Only members of a team can create its keys.");
  const permissions = body.permissions === undefined ? undefined : parsePermissions(body.permissions);
  await requireRoomForKey(tx, user.id);
  const key = newKey(random);
  const name = body.name ?? "admin-issued";
  const keyId = await insertApiKey(tx, { userId: user.id, name, key, permissions });
  const args = { user_id: user.id, id: keyId, name, key_prefix: key.prefix, permissions: permissions ?? false };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.key.create", args });
  return { userId: user.id, email: user.email, keyId, secret: key.secret };
}

/** Deletes a key of the caller, the calling one included. The key is invalid once this request is answered. */
export async function deleteKey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  id: ApiKeyId | undefined,
  identities: Identities,
): Promise<void> {
  if (id === undefined || !(await deleteApiKey(tx, identity, id))) throw noSuchKey();
  // The sessions that the key opened end with it.
  tx.afterCommit(() => identities.forgetUser(identity.userId));
  await recordAudit(tx, identity, { ipAddress, action: "api.apikey.delete", args: { id } });
}

/** Gives the calling key another secret, with the same permissions. The old one becomes invalid at commit. */
export async function resetKey(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { identities, random }: { readonly identities: Identities; readonly random: RandomBytes },
): Promise<string> {
  const { apiKeyId: id, userId } = identity;
  const key = await changeSecret(tx, { id, userId }, { identities, random });
  if (key === undefined) throw noSuchKey();
  const args = { id, key_prefix: key.prefix };
  await recordAudit(tx, identity, { ipAddress, action: "api.apikey.reset", args });
  return key.secret;
}

/** Gives a key another secret, and ends the sessions that it opened; undefined for a key that is gone. */
export async function changeSecret(
  tx: Tx,
  { id, userId }: { readonly id: ApiKeyId; readonly userId: UserId },
  { identities, random }: { readonly identities: Identities; readonly random: RandomBytes },
): Promise<NewKey | undefined> {
  const key = newKey(random);
  if (!(await replaceSecret(tx, id, key))) return undefined;
  await endSessionsOpenedBy(tx, [id]);
  tx.afterCommit(() => identities.forgetUser(userId));
  return key;
}

/** One error for keys that are absent, deleted, an instance's or another user's. */
export function noSuchKey(): AppError {
  return notFound("no_such_api_key", "API Key not found.");
}
