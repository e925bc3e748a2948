import type { InstanceId, UserId } from "../../../../base/ids.ts";
import { nanos, ZERO, type Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { countableMs, scopesOf } from "../../../rental/instances/index.ts";
import { listCaps, type CapScope, type HoldId } from "../../ledger/index.ts";
import { listPendingAmounts, type CapRoom } from "../../ledger/for-charging.ts";
import { listVolumePayers } from "../../../supply/volumes/for-charging.ts";
import { billOf, loadFacts, type InstanceFacts } from "../settlement/facts.ts";
import { lineAmount } from "../lines/lines.ts";
import { payLines, roomsOf, type Rooms } from "../settlement/payment.ts";
import { listVolumeAccruals } from "../volumes/volume-settlement.ts";
import {
  findBillable,
  listBillablesOf,
  listInstancePayers,
  listOpenRuns,
  type BillableRun,
} from "../settlement/billable-store.ts";

/**
 * The amount that a user's credit would pay if everything were settled now: the usage that hosts have counted, and the
 * time since for runs whose hosts were last heard running them. Up to the last report it equals the coming charge, as
 * far as there is credit. Amounts that deposits pay or that caps do not cover are left out.
 */
export async function accruedOf(db: Reader, now: Date, userId: UserId): Promise<Nanos> {
  const paid = await accrualsOf(db, now, userId);
  return nanos(paid.reduce((total, { amountNanos }) => total + amountNanos, 0n));
}

/** The amount that has accrued on one instance or volume, the scopes that it counts within, and its hold. */
export type Accrual = {
  readonly scopes: readonly CapScope[];
  readonly amountNanos: bigint;
  readonly holdId: HoldId | undefined;
};

/** The accrual of each instance and volume of a user. */
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

/** The part of these accruals that exceeds the hold of each. A hold covers only its own instance or volume. */
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

/** Those of these users who may have usage that is not charged yet. */
export async function listAccruing(db: Reader, userIds: readonly UserId[]): Promise<ReadonlySet<UserId>> {
  return new Set([...(await listInstancePayers(db, userIds)), ...(await listVolumePayers(db, userIds))]);
}

/** The amounts that the caps of an account leave for accruals: holds count as available, since accruals use them. */
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

/** A deposit after usage that it pays and that is not charged yet: its remainder, and the saving by its discount. */
export type DepositAccrual = { readonly leftNanos: bigint; readonly savedNanos: bigint; readonly isSpent: boolean };

/** The deposit of one instance after its accrued usage; undefined when the deposit pays for none. */
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

/** Extends a run from its last count to `now`, when its host said that it runs and has been heard since. */
function upToNow(run: BillableRun, { instance, machine }: InstanceFacts): BillableRun {
  const isPresent = run.generation === instance.generation && run.generation === instance.observedGeneration;
  if (!isPresent || run.isClosed || instance.observedState !== "running" || run.meteredFromAt === undefined) return run;
  const { chargeableUntilAt = instance.endAt } = run;
  const untilMs = Math.min(machine.lastSeenAt.getTime(), instance.endAt.getTime(), chargeableUntilAt.getTime());
  const sinceMs = untilMs - run.lastCountedAt.getTime();
  if (sinceMs <= 0) return run;
  const runningMs = run.runningMs + BigInt(sinceMs);
  const mostMs = countableMs(run, new Date(untilMs)) ?? runningMs;
  if (mostMs <= run.runningMs) return run;
  return { ...run, runningMs: runningMs < mostMs ? runningMs : mostMs };
}
