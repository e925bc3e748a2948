import type { Identity } from "../../../../base/identity.ts";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import { notFound, unauthenticated } from "../../../../base/errors.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { newKey, recordAudit, requireUser, type RandomBytes } from "../../accounts/index.ts";
import type { SignInMeans } from "../means.ts";
import {
  HOST_ONLY_PERMISSIONS,
  insertSession,
  lockMembership,
  lockOpener,
  type KeyHolder,
} from "../../accounts/for-sign-in.ts";

const DAY_MS = 86_400_000;
/** A session that a password alone opened, which only accounts without a second factor have. */
const PASSWORD_SESSION_MS = 7 * DAY_MS;
const TFA_SESSION_MS = DAY_MS;

/** The key of a new session. */
export type Opened = { readonly userId: UserId; readonly keyId: ApiKeyId; readonly secret: string };

/** Opens a session for a person who signed in, in a team when one is named. */
export async function openPersonSession(
  tx: Tx,
  {
    personId,
    teamId,
    hasTfa,
    ipAddress,
  }: {
    readonly personId: UserId;
    readonly teamId: UserId | undefined;
    readonly hasTfa: boolean;
    readonly ipAddress: string;
  },
  { random, refuseCappedMember }: Pick<SignInMeans, "random" | "refuseCappedMember">,
): Promise<Opened> {
  const holder = await holderOf(tx, personId, teamId);
  if (teamId !== undefined) await refuseCappedMember(tx, { teamId, memberId: personId });
  const person = await requireUser(tx.db, personId);
  const key = newKey(random);
  const keyId = await insertSession(tx, {
    ...holder,
    key,
    kind: hasTfa ? "tfa" : "session",
    permissions: person.isHostOnly ? HOST_ONLY_PERMISSIONS : undefined,
    ipAddress,
    expiresAt: new Date(tx.now.getTime() + (hasTfa ? TFA_SESSION_MS : PASSWORD_SESSION_MS)),
  });
  const actor = { ...holder, apiKeyId: keyId };
  await recordAudit(tx, actor, { ipAddress, action: "api.session.create", args: { id: keyId, tfa: hasTfa } });
  return { userId: holder.userId, keyId, secret: key.secret };
}

/** Opens a session with a second factor for the holder of a key. It may do what that key may, and ends with it. */
export async function openKeySession(
  tx: Tx,
  identity: Identity,
  ipAddress: string,
  random: RandomBytes,
): Promise<Opened> {
  if (!(await lockOpener(tx, identity, identity.apiKeyId))) {
    throw unauthenticated("The key was deleted meanwhile. Use another one.");
  }
  const key = newKey(random);
  const keyId = await insertSession(tx, {
    userId: identity.userId,
    memberId: identity.memberId,
    key,
    kind: "tfa",
    permissions: identity.permissions,
    ipAddress,
    expiresAt: new Date(Math.min(tx.now.getTime() + TFA_SESSION_MS, identity.session?.expiresAt.getTime() ?? Infinity)),
    openedByKeyId: identity.apiKeyId,
  });
  await recordAudit(tx, identity, { ipAddress, action: "api.session.create", args: { id: keyId, tfa: true } });
  return { userId: identity.userId, keyId, secret: key.secret };
}

async function holderOf(tx: Tx, personId: UserId, teamId: UserId | undefined): Promise<KeyHolder> {
  if (teamId === undefined) return { userId: personId, memberId: undefined };
  if (await lockMembership(tx, teamId, personId)) return { userId: teamId, memberId: personId };
  throw notFound("no_such_team", `You are not a member of team ${teamId}.`);
}
