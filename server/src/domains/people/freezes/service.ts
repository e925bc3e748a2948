import { forbidden, notFound } from "../../../base/errors.ts";
import type { Caller, Freeze } from "../../../base/identity.ts";
import type { AccountFreezeId, UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import type { Tx } from "../../../db/transaction.ts";
import {
  findOpenFreeze,
  findOwnFreeze,
  followFreezes,
  insertFreeze,
  listUnfrozenTeamsOf,
  lockWithSubaccounts,
  storeLift,
} from "../accounts/for-freezes.ts";
import { findUserByEmailOrId, keepAccounts, recordAudit, tellAdministrators } from "../accounts/index.ts";
import { postNotifications } from "../../notifications/index.ts";
import { placePayoutHold, releasePayoutHold } from "../../money/payments/index.ts";

export type Frozen = {
  readonly id: AccountFreezeId;
  readonly isNew: boolean;
  /** The accounts that were frozen by this request. */
  readonly userIds: readonly UserId[];
  /** Teams that they own and that stay unfrozen, because they have other members. */
  readonly teamIds: readonly UserId[];
};

/**
 * Freezes an account with its subaccounts: from the commit on they can start nothing, and the loop `enforce-freezes`
 * stops what they run. Teams without another member are frozen too. Safe to repeat: an account with an open freeze
 * keeps that one, with its reason.
 */
export async function freezeAccount(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { user: named, reason }: { readonly user: string; readonly reason: string },
): Promise<Frozen> {
  const user = await findUserByEmailOrId(tx.db, named);
  if (user === undefined) throw notFound("no_such_user", `There is no user ${named}.`);
  if (user.isAdmin) {
    throw forbidden(`Account ${user.id} is an administrator's, and administrators are not frozen.`, "not_allowed");
  }
  await lockWithSubaccounts(tx, user.id);
  const id = await insertFreeze(tx, { userId: user.id, reason, frozenBy: identity.userId });
  if (id === undefined) {
    const open = await findOwnFreeze(tx.db, user.id);
    invariant(open !== undefined, "a freeze that is there already is open");
    return { id: open.id, isNew: false, userIds: [], teamIds: await listUnfrozenTeamsOf(tx.db, [user.id]) };
  }
  const userIds = frozenBy(await followFreezes(tx, user.id), true);
  await holdAndTell(tx, userIds, { id, reason, placedBy: identity.userId });
  await tellAdministrators(tx, {
    subject: `Account ${user.id} is frozen`,
    message: `Administrator ${identity.userId} froze account ${user.id} (freeze ${id}). Reason: ${reason}`,
    key: `freeze:${id}`,
  });
  const args = { id, user_id: user.id, reason };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.freeze_account", args });
  return { id, isNew: true, userIds, teamIds: await listUnfrozenTeamsOf(tx.db, userIds) };
}

/** Holds the payouts of newly frozen accounts, and notifies their users. */
async function holdAndTell(
  tx: Tx,
  userIds: readonly UserId[],
  { id, reason, placedBy }: Freeze & { readonly placedBy: UserId | undefined },
): Promise<void> {
  for (const userId of userIds) {
    await placePayoutHold(tx, { userId, kind: "frozen_account", reason: holdReason(id, reason), placedBy });
  }
  await postNotifications(
    tx,
    userIds.map((userId) => ({
      userId,
      kind: "client:account_frozen",
      subject: "Your account is frozen",
      message: `Freeze ${id} stops what your account runs and rents, takes what it offers off the market and holds its payouts; your data is kept and storage is charged as before. Reason: ${asSentence(reason)} Ask the operator of this server about it.`,
      key: `account_frozen:${id}`,
    })),
  );
}

/**
 * Freezes a team that a member has just left if all its other members are frozen. Returns whether this froze it; the
 * caller's transaction has removed the member and nothing else.
 */
export async function freezeAbandonedTeam(tx: Tx, teamId: UserId): Promise<boolean> {
  await lockWithSubaccounts(tx, teamId);
  const userIds = frozenBy(await followFreezes(tx, teamId), true);
  const freeze = (await keepAccounts(tx, [teamId])).get(teamId);
  if (freeze === undefined || !userIds.includes(teamId)) return false;
  await holdAndTell(tx, userIds, { ...freeze, placedBy: undefined });
  await tellAdministrators(tx, {
    subject: `Team ${teamId} is frozen`,
    message: `The last member of team ${teamId} who is not frozen left it: freeze ${freeze.id} holds for the team too.`,
    key: `freeze:${freeze.id}:team:${teamId}`,
  });
  return true;
}

/**
 * Lifts a freeze: the accounts may do again what they could before. Stopped instances stay stopped, and unlisted
 * machines stay unlisted. Returns the accounts that are no longer frozen; a subaccount may have a freeze of its own.
 */
export async function liftFreeze(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, reason }: { readonly id: AccountFreezeId; readonly reason: string },
): Promise<readonly UserId[]> {
  const open = await findOpenFreeze(tx.db, id);
  if (open === undefined) throw noSuchFreeze(id);
  await lockWithSubaccounts(tx, open.userId);
  const lifted = await storeLift(tx, { id, by: identity.userId, reason });
  // Another request lifted it while this one waited for its account.
  if (lifted === undefined) throw noSuchFreeze(id);
  const { userId } = lifted;
  const userIds = frozenBy(await followFreezes(tx, userId), false);
  for (const freeId of userIds) {
    const release = { userId: freeId, kind: "frozen_account", reason, releasedBy: identity.userId } as const;
    await releasePayoutHold(tx, release);
  }
  await postNotifications(
    tx,
    userIds.map((freeId) => ({
      userId: freeId,
      kind: "client:account_unfrozen",
      subject: "Your account is no longer frozen",
      message: `Freeze ${id} is lifted: ${asSentence(reason)} Nothing was started again: start your instances and list your machines when you want them back.`,
      key: `account_unfrozen:${id}`,
    })),
  );
  await tellAdministrators(tx, {
    subject: `The freeze of account ${userId} is lifted`,
    message: `Administrator ${identity.userId} lifted freeze ${id} of account ${userId}. Reason: ${reason}`,
    key: `freeze_lifted:${id}`,
  });
  const args = { id, user_id: userId, reason };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.lift_freeze", args });
  return userIds;
}

function frozenBy(changed: ReadonlyMap<UserId, boolean>, isFrozen: boolean): readonly UserId[] {
  return [...changed].flatMap(([id, is]) => (is === isFrozen ? [id] : []));
}

function asSentence(reason: string): string {
  return /[.!?]$/.test(reason.trim()) ? reason.trim() : `${reason.trim()}.`;
}

const HOLD_REASON_MAX = 500;

function holdReason(id: AccountFreezeId, reason: string): string {
  return `The account is frozen (freeze ${id}): ${reason}`.slice(0, HOLD_REASON_MAX);
}

function noSuchFreeze(id: AccountFreezeId) {
  return notFound("no_such_freeze", `There is no open freeze ${id}.`);
}
