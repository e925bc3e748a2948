import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { destroyIfPresent, listInstanceCosts, lockMachinesOf, NO_COST } from "../../../rental/instances/index.ts";
import { listKept } from "../../../rental/instances/for-limits.ts";
import { balanceOf, balancesOf, creditOf, lockAccounts, lockCredit, LOSSES, postTransfer } from "../../ledger/index.ts";
import { setMinimumBalance, sumPaidIn } from "../../ledger/for-limits.ts";
import { accruedOf } from "../../charging/index.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { endVolumesOf } from "../../../supply/volumes/for-limits.ts";
import { listVolumeCosts } from "../../../supply/volumes/index.ts";
import { averageDailySpend } from "./daily-spend-service.ts";
import { followDrop } from "./rules/drops.ts";
import { bearsStorage, keptUntil, remindersDue } from "./rules/grace.ts";
import {
  deletedNotification,
  entryNotifications,
  lowCreditNotification,
  reminderNotification,
} from "./rules/notifications.ts";
import {
  endArrears,
  findEarlierDeleteAt,
  insertArrears,
  listDrops,
  readArrearsLimit,
  listOpen,
  lockOpenArrears,
  saveDrops,
  type Arrears,
} from "./store.ts";
import { makeDue } from "../../tabs/index.ts";

/** Storage is charged by the day, so up to this many hours of it may not be posted yet. */
const UNPOSTED_HOURS = 26n;
/** Bounds a run, since each deletion makes a host remove a container. */
const DELETIONS_PER_RUN = 100;
/** Arrears that begin again within this time keep the deletion time that was stated. */
const SAME_MATTER_MS = 30 * 86_400_000;

type Cost = { readonly running: bigint; readonly storage: bigint };

async function costsOf(db: Reader, userIds: readonly UserId[]): Promise<ReadonlyMap<UserId, Cost>> {
  const [instances, volumes] = await Promise.all([listInstanceCosts(db, userIds), listVolumeCosts(db, userIds)]);
  return new Map(
    userIds.map((userId) => {
      const { runningNanosPerHour: running, storageNanosPerHour } = instances.get(userId) ?? NO_COST;
      return [userId, { running, storage: storageNanosPerHour + (volumes.get(userId) ?? 0n) }];
    }),
  );
}

export type Watched = {
  readonly toldCount: number;
  /** Users whose credit may be used up, to be checked one by one. */
  readonly suspects: readonly UserId[];
};

/** Warns users whose credit will not last long, once for each drop. Users in arrears know already. */
export async function watchCredit(tx: Tx, userIds: readonly UserId[]): Promise<Watched> {
  const [costs, balances, drops, open] = [
    await costsOf(tx.db, userIds),
    await balancesOf(tx.db, userIds),
    await listDrops(tx.db, userIds),
    await listOpen(tx.db, userIds),
  ];
  const suspects: UserId[] = [];
  const changes = userIds.flatMap((userId) => {
    const { running, storage } = costs.get(userId) ?? { running: 0n, storage: 0n };
    const balance = balances.get(userId)?.balance ?? nanos(0n);
    if (open.has(userId)) return [];
    if (storage > 0n && running === 0n && balance <= storage * UNPOSTED_HOURS) suspects.push(userId);
    const nanosPerHour = running + storage;
    const change = followDrop({ balanceNanos: balance, nanosPerHour }, drops.get(userId));
    return change === undefined ? [] : [{ ...change, userId, balance, nanosPerHour }];
  });
  await saveDrops(tx, changes);
  const told = changes.flatMap(({ tell: hours, ...change }) =>
    hours === undefined ? [] : [lowCreditNotification(change.userId, { ...change, hours })],
  );
  await postNotifications(tx, told);
  return { toldCount: told.length, suspects };
}

/** Locks the credit of a user and returns the balance less unposted use, and the part of it that is not held. */
async function lockRemaining(tx: Tx, userId: UserId): Promise<{ readonly left: Nanos; readonly available: Nanos }> {
  await lockCredit(tx, userId);
  const { balance, available } = await balanceOf(tx.db, userId);
  return { left: nanos(balance - (await accruedOf(tx.db, tx.now, userId))), available };
}

/** Begins the arrears of an account whose credit does not pay for its storage. False when it does pay. */
export async function enterArrears(tx: Tx, userId: UserId): Promise<boolean> {
  const { left, available } = await lockRemaining(tx, userId);
  const { running, storage } = (await costsOf(tx.db, [userId])).get(userId) ?? { running: 0n, storage: 0n };
  if (running > 0n || storage === 0n) return false;
  // Credit held for one volume pays for no other.
  const isUsedUp = left <= 0n || (available <= 0n && left < storage);
  if (!isUsedUp) return false;
  const dailySpendNanos = await averageDailySpend(tx, userId);
  const storageNanosPerHour = nanos(storage);
  const custom = {
    averageDailySpendNanos: dailySpendNanos,
    paidInNanos: await sumPaidIn(tx.db, userId),
    limitNanos: await readArrearsLimit(tx.db),
    storageNanosPerHour: storage,
  };
  const earlier = await findEarlierDeleteAt(tx.db, userId, new Date(tx.now.getTime() - SAME_MATTER_MS));
  const deleteAt = keptUntil(tx.now, custom, earlier);
  const entry = { userId, beganAt: tx.now, deleteAt, minBalance: nanos(0n), dailySpendNanos, storageNanosPerHour };
  const arrears = await insertArrears(tx, entry);
  if (arrears === undefined) return false;
  await postNotifications(tx, entryNotifications(arrears));
  return true;
}

/**
 * Charges the accrued use of an account in arrears at once, since credit that is not charged yet could be spent
 * otherwise.
 */
export async function chargeNow(tx: Tx, userId: UserId): Promise<void> {
  const kept = await listKept(tx.db, userId);
  await makeDue(
    tx,
    kept.map(({ id }) => id),
  );
}

export type Step = "paid" | "reminded" | "waiting" | "deleting" | "deleted" | "over";

/** Does what is due for an account in arrears: a reminder, the deletion or the end. */
export async function followArrears(tx: Tx, userId: UserId): Promise<Step> {
  const arrears = await lockOpenArrears(tx, userId);
  if (arrears === undefined) return "over";
  const kept = await listKept(tx.db, userId);
  const storage = (await costsOf(tx.db, [userId])).get(userId)?.storage ?? 0n;
  // The deletion is done once nothing costs anything any more, even if holds for the deleted data have been released
  // since.
  const isDeletion = tx.now >= arrears.deleteAt && (storage === 0n || (await isUnpaid(tx, userId)));
  if (isDeletion) return deleteAll(tx, arrears, kept);
  const { left, available } = await lockRemaining(tx, userId);
  // Holds for something that waits are released first: without a minimum balance below zero they are not covered.
  if (left >= 0n && available >= 0n && bearsStorage(left, storage)) {
    await setMinimumBalance(tx, userId, 0n);
    await endArrears(tx, arrears.id, { outcome: "paid", writtenOff: 0n });
    return "paid";
  }
  const due = storage === 0n ? [] : remindersDue(arrears, tx.now);
  await postNotifications(
    tx,
    due.map((reminder) => reminderNotification(arrears, reminder)),
  );
  return due.length > 0 ? "reminded" : "waiting";
}

/** Read without a lock, because instances are locked before the ledger. */
async function isUnpaid(tx: Tx, userId: UserId): Promise<boolean> {
  const { balance } = await balanceOf(tx.db, userId);
  const left = balance - (await accruedOf(tx.db, tx.now, userId));
  return left <= 0n || !bearsStorage(left, (await costsOf(tx.db, [userId])).get(userId)?.storage ?? 0n);
}

/**
 * Destroys what the account has, as far as that is possible now, and closes the arrears when the destruction of all was
 * asked for and its cost until then is posted, as far as there was credit. Arrears of the time when the operator still
 * advanced storage may owe it, down to their minimum balance: that is the operator's loss. A host that does not come
 * back delays nothing, because storage there costs nothing any more.
 */
async function deleteAll(tx: Tx, arrears: Arrears, kept: Awaited<ReturnType<typeof listKept>>): Promise<Step> {
  const { userId } = arrears;
  const present = kept.filter(({ isEnding }) => !isEnding);
  const doomed = present.slice(0, DELETIONS_PER_RUN);
  await lockMachinesOf(
    tx,
    doomed.map(({ id }) => id),
  );
  for (const { id } of doomed) {
    await destroyIfPresent(tx, { userId, instanceId: id, actor: "rule", cause: "arrears" });
  }
  const leaving = new Set((await listKept(tx.db, userId)).filter(({ isEnding }) => isEnding).map(({ id }) => id));
  const volumeCount = await endVolumesOf(tx, { userId, leaving });
  if (doomed.length > 0 || doomed.length < present.length || volumeCount > 0) return "deleting";
  await lockAccounts(tx, [LOSSES, creditOf(userId)]);
  if ((await accruedOf(tx.db, tx.now, userId)) > 0n) return "deleting";
  const { balance, held } = await balanceOf(tx.db, userId);
  // Holds are released with the next settlement: with a minimum balance of zero nothing covers them.
  if (held > 0n && arrears.minBalance < 0n) return "deleting";
  const owed = balance < 0n ? -balance : 0n;
  // Debt for a disputed payment stays.
  const loss = nanos(owed < -arrears.minBalance ? owed : -arrears.minBalance);
  if (loss > 0n) {
    const outcome = await postTransfer(tx, {
      key: `arrears:${arrears.id}:write-off`,
      debit: LOSSES,
      credit: creditOf(userId),
      amount: loss,
      code: "write_off",
      cause: { arrears_id: arrears.id },
      description: "Storage that was not paid, written off",
    });
    invariant(outcome.kind === "posted", `arrears ${arrears.id} were written off before`);
  }
  await setMinimumBalance(tx, userId, 0n);
  await endArrears(tx, arrears.id, { outcome: "deleted", writtenOff: loss });
  await postNotifications(tx, [deletedNotification(arrears)]);
  return "deleted";
}
