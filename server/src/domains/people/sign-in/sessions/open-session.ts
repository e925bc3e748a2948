import type { Identity } from "../../../../base/identity.ts";
import type { ApiKeyId, UserId } from "../../../../base/ids.ts";
import { notFound, unauthenticated } from "../../../../base/errors.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { newKey, recordAudit, requireUser, type RandomBytes } from "../../accounts/index.ts";
import type { SignInMeans } from "../means.ts";
import {
  findApiKey,
  HOST_ONLY_PERMISSIONS,
  insertSession,
  lockMembership,
  lockOpener,
  newCookieKey,
  type KeyHolder,
} from "../../accounts/for-sign-in.ts";

const DAY_MS = 86_400_000;
/** A session that a password alone opened, which only accounts without a second factor have. */
const PASSWORD_SESSION_MS = 7 * DAY_MS;
const TFA_SESSION_MS = DAY_MS;

/** A new session; `secret` is its key, or the value of its cookie. */
export type Opened = {
  readonly userId: UserId;
  readonly keyId: ApiKeyId;
  readonly secret: string;
  /** The end of the session, as a number: what a repeated request gets was stored as JSON. */
  readonly expiresAtMs: number;
};

export type PersonSession = {
  readonly personId: UserId;
  readonly teamId: UserId | undefined;
  /** True after a second factor, or a passkey. */
  readonly hasTfa: boolean;
  readonly ipAddress: string;
  /** Its secret works as a key, unless it is for a browser: then in a cookie only. */
  readonly isForBrowser?: boolean;
  /** The session ends by then at the latest. */
  readonly endsBy?: Date;
};

/** Opens a session for a person who signed in, in a team when one is named. */
export async function openPersonSession(
  tx: Tx,
  { personId, teamId, hasTfa, ipAddress, isForBrowser = false, endsBy }: PersonSession,
  { random, refuseCappedMember }: Pick<SignInMeans, "random" | "refuseCappedMember">,
): Promise<Opened> {
  const holder = await holderOf(tx, personId, teamId);
  if (teamId !== undefined) await refuseCappedMember(tx, { teamId, memberId: personId });
  const person = await requireUser(tx.db, personId);
  const key = isForBrowser ? newCookieKey(random) : newKey(random);
  const lastsMs = hasTfa ? TFA_SESSION_MS : PASSWORD_SESSION_MS;
  const expiresAt = new Date(Math.min(tx.now.getTime() + lastsMs, endsBy?.getTime() ?? Infinity));
  const keyId = await insertSession(tx, {
    ...holder,
    key,
    kind: hasTfa ? "tfa" : "session",
    permissions: person.isHostOnly ? HOST_ONLY_PERMISSIONS : undefined,
    ipAddress,
    expiresAt,
  });
  const actor = { ...holder, apiKeyId: keyId };
  await recordAudit(tx, actor, { ipAddress, action: "api.session.create", args: { id: keyId, tfa: hasTfa } });
  return { userId: holder.userId, keyId, secret: key.secret, expiresAtMs: expiresAt.getTime() };
}

/** Opens a session with a second factor for the holder of a key. It may do what that key may, and ends with it. */
export async function openKeySession(
  tx: Tx,
  identity: Identity,
  ipAddress: string,
  random: RandomBytes,
): Promise<Opened> {
  if (!(await lockOpener(tx, identity, identity.apiKeyId))) throw keyDeleted();
  const key = newKey(random);
  const expiresAt = endOf(tx, identity, TFA_SESSION_MS);
  const keyId = await insertSession(tx, {
    userId: identity.userId,
    memberId: identity.memberId,
    key,
    kind: "tfa",
    permissions: identity.permissions,
    ipAddress,
    expiresAt,
    openedByKeyId: identity.apiKeyId,
  });
  await recordAudit(tx, identity, { ipAddress, action: "api.session.create", args: { id: keyId, tfa: true } });
  return { userId: identity.userId, keyId, secret: key.secret, expiresAtMs: expiresAt.getTime() };
}

/** Opens a session of a browser for the holder of a key. It may do what that key may, and ends with it. */
export async function openBrowserSessionByKey(
  tx: Tx,
  identity: Identity,
  ipAddress: string,
  random: RandomBytes,
): Promise<Opened> {
  if (!(await lockOpener(tx, identity, identity.apiKeyId))) throw keyDeleted();
  const key = newCookieKey(random);
  const expiresAt = endOf(tx, identity, PASSWORD_SESSION_MS);
  const opener = await findApiKey(tx.db, identity, identity.apiKeyId);
  const keyId = await insertSession(tx, {
    userId: identity.userId,
    memberId: identity.memberId,
    key,
    kind: identity.session?.kind ?? "session",
    permissions: identity.permissions,
    ipAddress,
    expiresAt,
    openedByKeyId: identity.apiKeyId,
    demandsTfa: opener?.demandsTfa ?? identity.demandsTfa ?? false,
  });
  const args = { id: keyId, tfa: identity.session?.kind === "tfa" };
  await recordAudit(tx, identity, { ipAddress, action: "api.session.create", args });
  return { userId: identity.userId, keyId, secret: key.secret, expiresAtMs: expiresAt.getTime() };
}

/** The end of a session that a key opens, which is no later than that of the key. */
function endOf(tx: Tx, { session }: Identity, lastsMs: number): Date {
  return new Date(Math.min(tx.now.getTime() + lastsMs, session?.expiresAt.getTime() ?? Infinity));
}

function keyDeleted() {
  return unauthenticated("The key was deleted meanwhile. Use another one.");
}

async function holderOf(tx: Tx, personId: UserId, teamId: UserId | undefined): Promise<KeyHolder> {
  if (teamId === undefined) return { userId: personId, memberId: undefined };
  if (await lockMembership(tx, teamId, personId)) return { userId: teamId, memberId: personId };
  throw notFound("no_such_team", `You are not a member of team ${teamId}.`);
}
