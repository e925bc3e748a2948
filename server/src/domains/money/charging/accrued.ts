import type { InstanceId, UserId } from "../../../base/ids.ts";
import { nanos, ZERO, type Nanos } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { countableMs, scopesOf } from "../../rental/instances/index.ts";
import { listCaps, listPendingAmounts, type CapRoom, type CapScope, type HoldId } from "../ledger/index.ts";
import { listVolumePayers } from "../../supply/volumes/index.ts";
import { billOf, loadFacts, type InstanceFacts } from "./facts.ts";
import { lineAmount } from "./lines.ts";
import { payLines, roomsOf, type Rooms } from "./payment.ts";
import { listVolumeAccruals } from "./volume-settlement.ts";
import { findBillable, listBillablesOf, listInstancePayers, listOpenRuns, type BillableRun } from "./billable-store.ts";

/**
 * What a user's credit would be charged if everything of the user's were settled now: for what hosts have counted, and for
 * the time since, as far as they were last heard to be running it. Up to the last report that is exactly what will be
 * charged, if there is enough; what deposits pay is no part of it, nor what caps do not bear.
 */
export async function accruedOf(db: Reader, now: Date, userId: UserId): Promise<Nanos> {
  const paid = await accrualsOf(db, now, userId);
  return nanos(paid.reduce((total, { amountNanos }) => total + amountNanos, 0n));
}

/** What has accrued on one instance or volume, within which scopes it counts, and what is set aside for it. */
export type Accrual = {
  readonly scopes: readonly CapScope[];
  readonly amountNanos: bigint;
  readonly holdId: HoldId | undefined;
};

/** The same for each instance and volume of a user. */
export async function accrualsOf(db: Reader, now: Date, userId: UserId): Promise<readonly Accrual[]> {
  const instances = await listBillablesOf(db, userId);
  const runs = await listOpenRuns(
    db,
    instances.map(({ id }) => id),
  );
  const due = [...(await listVolumeAccruals(db, now, userId))];
  for (const facts of await loadFacts(db, instances, runs)) {
    const { lines } = billOf({ ...facts, runs: facts.runs.map((run) => upToNow(run, facts)) }, now);
    const { holdId } = facts.instance;
    due.push({
      lines: lines.filter(({ paidFrom }) => paidFrom === "credit"),
      scopes: scopesOf(facts.instance),
      holdId,
    });
  }
  const rooms = await capRoomsOf(db, now, userId);
  const all = due.flatMap(({ lines }) => lines).reduce((total, line) => total + lineAmount(line), 0n);
  const purse = { aboveZeroNanos: all, aboveMinimumNanos: all };
  return due.map(({ lines, scopes, holdId }) => {
    const paid = payLines(lines, { purse, rooms, scopes });
    return { scopes, amountNanos: paid.reduce((total, { amountNanos }) => total + amountNanos, 0n), holdId };
  });
}

/** How much of these accruals is more than what is set aside for each: what is set aside for one thing pays for no other. */
export async function uncoveredOf(db: Reader, accruals: readonly Accrual[]): Promise<Nanos> {
  const due = accruals.filter(({ amountNanos }) => amountNanos > 0n);
  const held = await listPendingAmounts(
    db,
    due.flatMap(({ holdId }) => holdId ?? []),
  );
  const beyond = due.map(({ amountNanos, holdId }) => {
    const heldNanos = (holdId === undefined ? undefined : held.get(holdId)) ?? 0n;
    return amountNanos > heldNanos ? amountNanos - heldNanos : 0n;
  });
  return nanos(beyond.reduce((total, amount) => total + amount, 0n));
}

/** Which of these users may have something to be charged for that is not charged yet. */
export async function listAccruing(db: Reader, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  return new Set([...(await listInstancePayers(db, userIds)), ...(await listVolumePayers(db, userIds))]);
}

/** What the caps of an account bear besides what was charged; what is held is for what accrues. */
async function capRoomsOf(db: Reader, now: Date, userId: UserId): Promise<Rooms> {
  const caps = await listCaps(db, userId, now);
  return roomsOf(
    caps.map(({ scope, limit, limitBefore, spent, holdsFromAt }): CapRoom => ({
      scope,
      holdsFromAt,
      heldNanos: ZERO,
      roomNanos: nanos(limit - spent),
      roomBeforeNanos:
        limitBefore === undefined ? undefined : nanos((limitBefore > limit ? limitBefore : limit) - spent),
    })),
  );
}

/** What a deposit has paid by now and nobody has posted: what is left of it then, and what its discount saved. */
export type DepositAccrual = { readonly leftNanos: bigint; readonly savedNanos: bigint; readonly isSpent: boolean };

/** The same for the deposit of one instance; undefined where it has paid nothing since. */
export async function depositAccrualOf(
  db: Reader,
  now: Date,
  instanceId: InstanceId,
): Promise<DepositAccrual | undefined> {
  const instance = await findBillable(db, instanceId);
  if (instance === undefined) return undefined;
  const [facts] = await loadFacts(db, [instance], await listOpenRuns(db, [instanceId]));
  return facts && billOf({ ...facts, runs: facts.runs.map((run) => upToNow(run, facts)) }, now).use;
}

/** A run with the time since its last count, for one whose host said that it runs and was heard since. */
function upToNow(run: BillableRun, { instance, machine }: InstanceFacts): BillableRun {
  const isPresent = run.generation === instance.generation && run.generation === instance.observedGeneration;
  if (!isPresent || run.isSealed || instance.observedState !== "running" || run.meteredFromAt === undefined) return run;
  const { chargeableUntilAt = instance.endAt } = run;
  const untilMs = Math.min(machine.lastSeenAt.getTime(), instance.endAt.getTime(), chargeableUntilAt.getTime());
  const sinceMs = untilMs - run.lastCountedAt.getTime();
  if (sinceMs <= 0) return run;
  const runningMs = run.runningMs + BigInt(sinceMs);
  const mostMs = countableMs(run, new Date(untilMs)) ?? runningMs;
  if (mostMs <= run.runningMs) return run;
  return { ...run, runningMs: runningMs < mostMs ? runningMs : mostMs };
}
