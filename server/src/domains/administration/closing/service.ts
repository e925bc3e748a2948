import { conflict, forbidden, notFound } from "../../../base/errors.ts";
import type { Caller } from "../../../base/identity.ts";
import type { UserId } from "../../../base/ids.ts";
import type { PersonalData } from "../../../base/personal-data.ts";
import { formatDollars } from "../../../base/money.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { balanceOf, lockCredit } from "../../money/ledger/index.ts";
import {
  countAccountParts,
  findAnyUser,
  listMemberships,
  lockBelongings,
} from "../../people/accounts/for-administration.ts";
import { recordAudit, tellAdministrators, type Identities } from "../../people/accounts/index.ts";

export type ClosingPorts = {
  /** The account's belongings besides credit, in words. */
  readonly listBelongings: (db: Reader, now: Date, userId: UserId) => Promise<readonly string[]>;
  readonly collectPersonalData: (db: Reader, userId: UserId) => Promise<PersonalData>;
  readonly erasePersonalData: (tx: Tx, userId: UserId) => Promise<void>;
  /** Writes the acts that wait, so that a copy has them all. */
  readonly flushActs: () => Promise<unknown>;
  readonly identities: Pick<Identities, "forgetAll">;
};

type Wish = { readonly id: UserId; readonly reason: string };

/** A copy of what is known of an account, also of one that is deleted. That it was taken is in both audit logs. */
export async function exportAccount(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, reason }: Wish,
  { collectPersonalData }: ClosingPorts,
): Promise<PersonalData> {
  await requireAnyUser(tx.db, id);
  const event = { ipAddress, action: "api.admin.user.export", args: { user_id: id, reason } };
  await recordAudit(tx, identity, event);
  if (identity.userId !== id) await recordAudit(tx, { userId: id }, { ...event, args: { reason } });
  return collectPersonalData(tx.db, id);
}

/**
 * Deletes the account of a person, with everything about the person that no law of book-keeping keeps. Throws
 * `account_not_empty` while anything of it is there, and `not_allowed` for teams and administrators.
 */
export async function deleteAccount(
  tx: Tx,
  { identity, ipAddress }: Caller,
  { id, reason }: Wish,
  { listBelongings, erasePersonalData, identities }: ClosingPorts,
): Promise<void> {
  const user = await requireAnyUser(tx.db, id);
  if (user.deletedAt !== undefined) throw noSuchUser(id);
  if (user.isAdmin) throw forbidden(`Account ${id} is an administrator's, and is not deleted.`, "not_allowed");
  if (user.isTeam) throw forbidden(`Account ${id} is a team's: its owner deletes the team.`, "not_allowed");
  await lockBelongings(tx, id);
  await lockCredit(tx, id);
  const left = await listWhatIsLeft(tx, id, listBelongings);
  if (left.length > 0) {
    const message = `Account ${id} still has ${left.join(", ")}. Remove that first; give money back with a refund or a correction.`;
    throw conflict("account_not_empty", message, { extra: { left } });
  }
  await erasePersonalData(tx, id);
  const args = { user_id: id, reason };
  await recordAudit(tx, identity, { ipAddress, action: "api.admin.user.delete", args });
  await tellAdministrators(tx, {
    subject: `Account ${id} is deleted`,
    message: `Administrator ${identity.userId} deleted account ${id}. Reason: ${reason}`,
    key: `account_deleted:${id}`,
  });
  tx.afterCommit(() => identities.forgetAll());
}

async function listWhatIsLeft(tx: Tx, id: UserId, listBelongings: ClosingPorts["listBelongings"]) {
  const { available, held } = await balanceOf(tx.db, id);
  const teams = (await listMemberships(tx.db, id)).length;
  const { subaccounts } = await countAccountParts(tx.db, tx.now, id);
  return [
    ...(await listBelongings(tx.db, tx.now, id)),
    ...(held > 0n ? ["charges that are being settled"] : []),
    ...(available > 0n ? [`$${formatDollars(available)} of credit`] : []),
    ...(available < 0n ? [`a debt of $${formatDollars(-available)}`] : []),
    ...(teams > 0 ? [`${teams} memberships of teams`] : []),
    ...(subaccounts > 0 ? [`${subaccounts} subaccounts`] : []),
  ];
}

async function requireAnyUser(db: Reader, id: UserId) {
  const user = await findAnyUser(db, id);
  if (user === undefined) throw noSuchUser(id);
  return user;
}

function noSuchUser(id: UserId) {
  return notFound("no_such_user", `There is no user ${id}.`);
}
