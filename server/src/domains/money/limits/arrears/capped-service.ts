import type { LedgerCapId, UserId } from "../../../../base/ids.ts";
import { nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { destroyIfPresent, lockMachinesOf } from "../../../rental/instances/index.ts";
import { listKept, listStoredInstances } from "../../../rental/instances/for-limits.ts";
import type { StoredInstance } from "../../../rental/instances/for-limits.ts";
import { findCap, resetAt } from "../../ledger/for-limits.ts";
import { lockCredit, type Cap, type CapScope } from "../../ledger/index.ts";
import { averageDailySpend } from "./daily-spend-service.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { endUnusedVolumes, type StoredVolume } from "../../../supply/volumes/for-limits.ts";
import { listStoredVolumes } from "../../../supply/volumes/index.ts";
import { isLifted, REPEATED_DAYS, stateDeletion, type CapState } from "./rules/capped.ts";
import {
  cappedDeletedNotification,
  cappedEntryNotification,
  cappedReminderNotification,
} from "./capped-notifications.ts";
import {
  endCapArrears,
  findStated,
  insertCapArrears,
  listOpenCapArrears,
  lockOpenCapArrears,
  type CapArrears,
} from "./capped-store.ts";
import { remindersDue } from "./rules/grace.ts";

const DAY_MS = 86_400_000;
/** Bounds a run, since each deletion makes a host remove a container. */
const DELETIONS_PER_RUN = 100;

/** The instances and volumes that are charged for storage within a scope. */
type Stored = {
  readonly instances: readonly StoredInstance[];
  readonly volumes: readonly StoredVolume[];
  readonly nanosPerHour: bigint;
};

async function listStored(db: Reader, userId: UserId, scope: CapScope): Promise<Stored> {
  const instances = await listStoredInstances(db, userId, scope);
  const volumes = await listStoredVolumes(db, userId, scope);
  const nanosPerHour = [...instances, ...volumes].reduce((total, one) => total + one.nanosPerHour, 0n);
  return { instances, volumes, nanosPerHour };
}

function stateOf({ limit, spent, held, period }: Cap, now: Date): CapState {
  return { limitNanos: limit, roomNanos: limit - spent - held, resetsAt: resetAt(period, now) };
}

/** States when the data within a cap that leaves nothing will be deleted. False when there is nothing to state. */
export async function enterCapArrears(tx: Tx, { userId, id }: Pick<Cap, "userId" | "id">): Promise<boolean> {
  await lockCredit(tx, userId);
  const cap = await findCap(tx.db, userId, id, tx.now);
  if (cap === undefined) return false;
  const { scope, period } = cap;
  const { nanosPerHour } = await listStored(tx.db, userId, scope);
  if (nanosPerHour === 0n) return false;
  const dailySpendNanos = await averageDailySpend(tx, userId);
  const since = new Date(tx.now.getTime() - REPEATED_DAYS * DAY_MS);
  const deleteAt = stateDeletion(tx.now, {
    cap: stateOf(cap, tx.now),
    storageNanosPerHour: nanosPerHour,
    averageDailySpendNanos: dailySpendNanos,
    statedBefore: await findStated(tx.db, { userId, scope, since }),
  });
  if (deleteAt === undefined) return false;
  const storageNanosPerHour = nanos(nanosPerHour);
  const entry = { userId, capId: id, scope, period, beganAt: tx.now, deleteAt, dailySpendNanos, storageNanosPerHour };
  const arrears = await insertCapArrears(tx, entry);
  if (arrears === undefined) return false;
  await postNotifications(tx, [cappedEntryNotification(arrears)]);
  return true;
}

export type CapStep = "lifted" | "reminded" | "waiting" | "deleting" | "deleted" | "over";

/** Does what is due for a cap that leaves nothing: a reminder, the deletion or the end of the arrears. */
export async function followCapArrears(tx: Tx, capId: LedgerCapId): Promise<CapStep> {
  const arrears = await lockOpenCapArrears(tx, capId);
  if (arrears === undefined) return "over";
  const { userId, scope } = arrears;
  const stored = await listStored(tx.db, userId, scope);
  // The cap is read without a lock, because instances are locked before the ledger.
  const cap = await findCap(tx.db, userId, capId, tx.now);
  if (isLifted(cap && stateOf(cap, tx.now), stored.nanosPerHour)) {
    await endCapArrears(tx, arrears.id, "lifted");
    return "lifted";
  }
  if (tx.now >= arrears.deleteAt) return deleteStored(tx, arrears, stored);
  const due = remindersDue(arrears, tx.now);
  await postNotifications(
    tx,
    due.map((reminder) => cappedReminderNotification(arrears, reminder)),
  );
  return due.length > 0 ? "reminded" : "waiting";
}

/**
 * Destroys the instances and volumes within the scope, as far as that is possible now. The arrears end when the
 * destruction of all was asked for.
 */
async function deleteStored(tx: Tx, arrears: CapArrears, { instances, volumes }: Stored): Promise<CapStep> {
  const { userId } = arrears;
  // Credit for the storage of a running instance is held: it is stopped first, or paid.
  const doomed = instances.filter(({ isAtRest }) => isAtRest).slice(0, DELETIONS_PER_RUN);
  await lockMachinesOf(
    tx,
    doomed.map(({ id }) => id),
  );
  for (const { id } of doomed) {
    await destroyIfPresent(tx, { userId, instanceId: id, actor: "rule", cause: "cap_reached" });
  }
  const leaving = new Set((await listKept(tx.db, userId)).filter(({ isEnding }) => isEnding).map(({ id }) => id));
  const ids = volumes.map(({ id }) => id);
  const leftCount = await endUnusedVolumes(tx, { userId, ids, leaving });
  if (doomed.length > 0 || leftCount < ids.length) await postNotifications(tx, [cappedDeletedNotification(arrears)]);
  if (doomed.length < instances.length || leftCount > 0) return "deleting";
  await endCapArrears(tx, arrears.id, "deleted");
  return "deleted";
}

/** The data that caps which leave nothing still keep, and until when. */
export type CappedData = CapArrears & {
  readonly instanceIds: readonly number[];
  readonly volumeIds: readonly number[];
};

export async function listCappedData(db: Reader, userId: UserId): Promise<readonly CappedData[]> {
  const found: CappedData[] = [];
  for (const arrears of await listOpenCapArrears(db, userId)) {
    const { instances, volumes } = await listStored(db, userId, arrears.scope);
    found.push({ ...arrears, instanceIds: instances.map(({ id }) => id), volumeIds: volumes.map(({ id }) => id) });
  }
  return found;
}
