// Settles instances in batches: facts become charge lines, and lines become transfers, in one transaction.
import type { InstanceId, UserId } from "../../../../base/ids.ts";
import { HOLD_SECONDS } from "../../../../base/stop-times.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { noteUses } from "../../deposits/index.ts";
import { listOpenFaults, type OpenFault } from "../../../rental/instances/for-charging.ts";
import { listInstanceCosts, listScopeCosts, scopesOf } from "../../../rental/instances/index.ts";
import {
  creditOf,
  depositOf,
  earningsOf,
  lockAccounts,
  noteSpending,
  postAllTransfers,
  readMeans,
  type LockedAccounts,
} from "../../ledger/index.ts";
import { lockCapRooms, useHolds, type Limitation } from "../../ledger/for-charging.ts";
import { listVolumeCosts } from "../../../supply/volumes/index.ts";
import { billOf, loadFacts, type InstanceFacts } from "./facts.ts";
import { giveCredits } from "./credit-service.ts";
import { needOf, planHolds, type HoldPlan } from "./holds.ts";
import type { Item, Rates } from "./item.ts";
import { keepHolds } from "./kept-holds.ts";
import { insertLines, type Contract } from "../lines/line-store.ts";
import { payLines, roomsOf, type Purse, type Rooms } from "./payment.ts";
import { TrafficRooms } from "./traffic-room.ts";
import { activityOf, lastingOf, needsHold, nextSettlement, periodsFor, type Lasting } from "../rules/period.ts";
import { transferOf, type Charge } from "../lines/transfers.ts";
import { listLastCounts, lockUnchargedRuns, markCharged, markSettled, type Billable } from "./billable-store.ts";

/** An instance whose owner cannot cover it with a hold until the next settlement. */
export type Stalled = { readonly id: InstanceId; readonly payerId: UserId; readonly limitedBy: Limitation };
export type BatchOutcome = {
  readonly lineCount: number;
  readonly stalled: readonly Stalled[];
  /** Instances that must be stopped because their traffic has reached its limit. */
  readonly flooded: readonly InstanceId[];
  /** True when holds cover everything that may run. */
  readonly isCovered: boolean;
};

/**
 * Settles these instances, whose locks the caller holds: frees their holds, charges everything that is due as far as
 * there is credit, and places holds until the next settlement, unless the old ones are equal. It happens completely or
 * not at all, and a repetition changes nothing, since each charge line is named by its stretch. A passing settlement
 * places the smallest holds and makes the instances due again at once.
 */
export async function settleInstances(
  tx: Tx,
  instances: readonly Billable[],
  { isPassing, rates }: { readonly isPassing: boolean; readonly rates?: Rates },
): Promise<BatchOutcome> {
  if (instances.length === 0) return { lineCount: 0, stalled: [], flooded: [], isCovered: true };
  const ids = instances.map(({ id }) => id);
  const runs = await lockUnchargedRuns(tx, ids);
  const items = (await loadFacts(tx.db, instances, runs)).map((facts) => toItem(facts, tx.now));
  const faults = await listOpenFaults(tx.db, ids);
  const known = isPassing ? undefined : await learnRates(tx, items, rates ?? new Map());
  const { accounts, purses, rooms, kept, held, strained } = await openPurses(tx, items, { faults, rates: known });
  const trafficRooms = await TrafficRooms.open(tx, items);
  const charges = items.flatMap(({ bill, contract, scopes, facts }) => {
    const purse = purses.get(contract.payerId) ?? { aboveZeroNanos: 0n, aboveMinimumNanos: 0n };
    const { id } = facts.instance;
    const paid = payLines(bill.lines, { purse, rooms, scopes, traffic: trafficRooms.of(id) });
    trafficRooms.note(id, paid);
    return paid.map((line): Charge => ({ line, contract, scopes }));
  });
  const reached = new Set(await trafficRooms.store(tx));
  await postCharges(tx, charges, { accounts, rooms });
  await noteUses(
    tx,
    items.flatMap(({ facts, bill: { use } }) => (use === undefined ? [] : [{ instanceId: facts.instance.id, ...use }])),
  );
  const unsettled = await giveCredits(tx, items, { accounts, faults, runs });
  const plans = await renewHolds(tx, items, { purses, rooms, charges, kept, held, strained, rates: known });
  const short = new Set(listShort(charges).map(({ instanceId }) => instanceId));
  await markCharged(tx, runs);
  await markSettled(
    tx,
    items.map((item) => {
      const { id } = item.facts.instance;
      return settledOf(item, {
        now: tx.now,
        plan: plans.get(id),
        unsettled,
        isShort: short.has(id),
        isSoon: isLimitNew(item, rooms, tx.now),
        isFlooded: isFlooded(item, reached),
      });
    }),
  );
  const stalled = items.flatMap(({ facts: { instance }, activity }): readonly Stalled[] => {
    const plan = plans.get(instance.id);
    const isWanted = activity === "active" || activity === "waiting" || strained.has(instance.id);
    return isWanted && plan?.kind === "refused"
      ? [{ id: instance.id, payerId: instance.userId, limitedBy: plan.limitedBy }]
      : [];
  });
  const flooded = items.filter((item) => isFlooded(item, reached)).map(({ facts }) => facts.instance.id);
  const isCovered = items.every(
    ({ activity, facts: { instance } }) => !needsHold(activity) || plans.get(instance.id)?.kind === "placed",
  );
  return { lineCount: charges.length, stalled, flooded, isCovered };
}

/** True when an instance should run although its traffic has reached its limit. */
function isFlooded({ facts: { instance }, activity }: Item, reached: ReadonlySet<InstanceId>): boolean {
  return (activity === "active" || activity === "waiting") && (instance.isTrafficReached || reached.has(instance.id));
}

function toItem(facts: InstanceFacts, now: Date): Item {
  const { instance, hostId } = facts;
  const { id: instanceId, userId: payerId, machineId, meteredFromAt } = instance;
  return {
    facts,
    bill: billOf(facts, now),
    contract: { payerId, hostId, machineId, instanceId, volumeId: undefined },
    scopes: scopesOf(instance),
    activity: activityOf({ ...instance, isMetered: meteredFromAt !== undefined }),
  };
}

/** The means to pay with, and the locks of all accounts that money may move between. */
export type Means = {
  readonly accounts: LockedAccounts;
  readonly purses: ReadonlyMap<UserId, Purse>;
  readonly rooms: Rooms;
};

type Plans = ReadonlyMap<InstanceId, HoldPlan>;

/**
 * Locks all accounts that money may move between, in the one global order, and frees the holds of this batch. With
 * rates, holds that would be placed again unchanged stay; without rates none is compared. The hold for a start that has
 * not happened stays in both cases, unless a cap does not cover it any more.
 */
async function openPurses(
  tx: Tx,
  items: readonly Item[],
  { faults, rates }: { readonly faults: readonly OpenFault[]; readonly rates: Rates | undefined },
): Promise<Means & { readonly kept: Plans; readonly held: ReadonlyMap<UserId, bigint>; readonly strained: Strained }> {
  const touched = items.filter(({ bill, activity, facts }) => {
    const isStarting = activity === "unproven" && facts.instance.desired === "running";
    const hasHold = facts.instance.holdId !== undefined || needsHold(activity) || isStarting;
    return bill.lines.length > 0 || hasHold || faults.some((fault) => fault.instanceId === facts.instance.id);
  });
  const involved = touched.flatMap(({ contract: { payerId, hostId, instanceId }, facts: { deposit } }) => [
    creditOf(payerId),
    earningsOf(hostId),
    ...(deposit === undefined || instanceId === undefined ? [] : [depositOf(payerId, instanceId)]),
  ]);
  const accounts = await lockAccounts(tx, involved);
  const scopes = [...new Set(touched.flatMap((item) => item.scopes))];
  const limited = roomsOf(await lockCapRooms(tx, scopes));
  const kept: Plans = rates === undefined ? new Map() : await keepHolds(tx, items, { rooms: limited, rates });
  const strained: Strained =
    rates === undefined
      ? new Set()
      : new Set(items.filter((item) => isStrained(item, limited)).map(({ facts }) => facts.instance.id));
  await useHolds(
    tx,
    items.flatMap(({ facts: { instance }, activity }) => {
      const isKept = kept.has(instance.id) || (activity === "unproven" && !strained.has(instance.id));
      return isKept ? [] : (instance.holdId ?? []);
    }),
  );
  const rooms = limited.size === 0 ? limited : roomsOf(await lockCapRooms(tx, scopes));
  const payers = touched.map(({ contract }) => contract.payerId);
  const means = payers.length === 0 ? new Map() : await readMeans(tx.db, payers, "credit");
  const purses = new Map<UserId, Purse>();
  const held = new Map<UserId, bigint>();
  for (const [userId, { aboveZeroNanos, aboveMinimumNanos, heldNanos }] of means) {
    purses.set(userId, { aboveZeroNanos, aboveMinimumNanos });
    held.set(userId, heldNanos);
  }
  return { accounts, purses, rooms, kept, held, strained };
}

/** Instances that have not run and whose start is checked again. */
type Strained = ReadonlySet<InstanceId>;

/** True for an instance that has not started and has no hold, or whose hold exceeds a lowered cap. */
function isStrained({ activity, scopes, facts: { instance } }: Item, rooms: Rooms): boolean {
  if (activity !== "unproven" || instance.desired !== "running") return false;
  return instance.holdId === undefined || scopes.some((scope) => rooms.get(scope)?.some((room) => room.nanos < 0n));
}

/** Contracts whose storage could not be paid in full. */
export function listShort(charges: readonly Charge[]): readonly Contract[] {
  return charges
    .filter(({ line }) => line.component === "disk" && line.unpaidNanos > 0n)
    .map(({ contract }) => contract);
}

/** Posts the paid amounts, counts them against the caps, and writes the charge lines. */
export async function postCharges(
  tx: Tx,
  charges: readonly Charge[],
  { accounts, rooms }: Pick<Means, "accounts" | "rooms">,
): Promise<void> {
  const paid = charges.filter(({ line }) => line.amountNanos > 0n);
  const posted = await postAllTransfers(tx, accounts, paid.map(transferOf));
  const transferIds = new Map(paid.map((charge, index) => [charge, posted[index]]));
  await insertLines(
    tx,
    charges.map((charge) => ({
      ...charge.line,
      contract: charge.contract,
      transferId: transferIds.get(charge),
    })),
  );
  if (rooms.size === 0) return;
  await noteSpending(
    tx,
    paid
      .filter(({ line }) => line.paidFrom === "credit")
      .map(({ line, scopes }) => ({ scopes, amount: line.amountNanos })),
  );
}

/** Places the holds until the next settlement; without rates the smallest ones. */
async function renewHolds(
  tx: Tx,
  items: readonly Item[],
  {
    charges,
    kept,
    strained,
    ...limits
  }: Limits & { readonly charges: readonly Charge[]; readonly kept: Plans; readonly strained: Strained },
): Promise<Plans> {
  const holders = items.filter((item) => {
    const { id } = item.facts.instance;
    return (isHolder(item) && !kept.has(id)) || strained.has(id);
  });
  if (holders.length === 0) return kept;
  const traffic = new Map<InstanceId | undefined, bigint>();
  for (const { line, contract } of charges) {
    if (line.component !== "bwu" && line.component !== "bwd") continue;
    traffic.set(contract.instanceId, (traffic.get(contract.instanceId) ?? 0n) + line.amountNanos);
  }
  const lastings = await lastingsOf(tx, holders, limits);
  const near = holders.map(({ facts }) => facts.instance.id).filter((id) => !isLong(lastings.get(id)));
  const lastCounts = await listLastCounts(tx.db, near);
  const placed = await planHolds(
    tx,
    holders.map((item) => {
      const { id } = item.facts.instance;
      const lagSeconds = lagOf(lastCounts.get(id), tx.now);
      return needOf(item, { lasting: lastings.get(id), lagSeconds, lastTrafficNanos: traffic.get(id) ?? 0n });
    }),
    limits.rooms,
  );
  return new Map([...kept, ...placed]);
}

/** The credit that holds come from, and its hourly use; without rates in a passing settlement. */
type Limits = {
  readonly purses: ReadonlyMap<UserId, Purse>;
  readonly rooms: Rooms;
  readonly held: ReadonlyMap<UserId, bigint>;
  readonly rates: Rates | undefined;
};

/** How long balances and caps last for each of these instances, holds included; empty in a passing settlement. */
async function lastingsOf(
  tx: Tx,
  holders: readonly Item[],
  { purses, rooms, held, rates }: Limits,
): Promise<ReadonlyMap<InstanceId, Lasting>> {
  if (rates === undefined) return new Map();
  const payers = rooms.size === 0 ? [] : holders.map(({ contract }) => contract.payerId);
  const costs = await listScopeCosts(tx.db, payers, [...rooms.keys()]);
  return new Map(
    holders.map(({ facts: { instance }, scopes }) => {
      const { id, userId } = instance;
      const leftNanos = (purses.get(userId)?.aboveZeroNanos ?? 0n) + (held.get(userId) ?? 0n);
      const balance = { leftNanos, nanosPerHour: rates.get(userId) ?? 0n };
      const caps = scopes.flatMap((scope) => {
        const { runningNanosPerHour = 0n, storageNanosPerHour = 0n } = costs.get(scope) ?? {};
        const nanosPerHour = runningNanosPerHour + storageNanosPerHour;
        return (rooms.get(scope) ?? []).map((room) => ({ leftNanos: room.nanos + room.heldNanos, nanosPerHour }));
      });
      return [id, lastingOf([balance, ...caps])];
    }),
  );
}

function isLong(lasting: Lasting | undefined): boolean {
  return lasting === "days" || lasting === "hours";
}

/**
 * Longest lag: a host in touch is counted each minute, and one that is away runs on for its heartbeat lease at most.
 */
const LAG_SECONDS_MAX = HOLD_SECONDS;

/** Seconds since the last count: this time is not charged yet, but will be. */
function lagOf(lastCountedAt: Date | undefined, now: Date): number {
  if (lastCountedAt === undefined) return 0;
  const seconds = Math.ceil((now.getTime() - lastCountedAt.getTime()) / 1000);
  return Math.min(Math.max(seconds, 0), LAG_SECONDS_MAX);
}

/** True when the instance needs a hold after the settlement; credit or a cap may still refuse it. */
function isHolder({ activity, facts: { instance } }: Item): boolean {
  return activity === "active" || activity === "waiting" || (activity === "leaving" && instance.holdId !== undefined);
}

/** Adds the hourly cost of the whole accounts of these instances' owners, if they continue as now. */
async function learnRates(tx: Tx, items: readonly Item[], rates: Rates): Promise<Rates> {
  const userIds = items.filter(isHolder).map(({ contract }) => contract.payerId);
  const unknown = [...new Set(userIds)].filter((userId) => !rates.has(userId));
  if (unknown.length === 0) return rates;
  const instances = await listInstanceCosts(tx.db, unknown);
  const volumes = await listVolumeCosts(tx.db, unknown);
  for (const userId of unknown) {
    const { runningNanosPerHour = 0n, storageNanosPerHour = 0n } = instances.get(userId) ?? {};
    rates.set(userId, runningNanosPerHour + storageNanosPerHour + (volumes.get(userId) ?? 0n));
  }
  return rates;
}

/**
 * Bytes have no moments: after a limit changes they are settled this soon, so that few lie on both sides of the change.
 */
const NEW_LIMIT_MS = 60_000;

function isLimitNew({ scopes, activity }: Item, rooms: Rooms, now: Date): boolean {
  if (activity !== "active" && activity !== "leaving") return false;
  const since = now.getTime() - NEW_LIMIT_MS;
  return scopes.some((scope) => rooms.get(scope)?.some(({ holdsFromMs }) => holdsFromMs > since));
}

/** Delay for a failed run that is being counted while its credit waits: it is over, so its count is soon stored. */
const SOON_MS = 10_000;

function settledOf(
  { facts: { instance }, bill, activity }: Item,
  {
    now,
    plan,
    unsettled,
    isShort,
    isSoon,
    isFlooded: hasToStop,
  }: {
    readonly now: Date;
    readonly plan: HoldPlan | undefined;
    readonly unsettled: ReadonlySet<InstanceId>;
    readonly isShort: boolean;
    readonly isSoon: boolean;
    readonly isFlooded: boolean;
  },
) {
  const [period] = periodsFor(activity, { lasting: "hours", lagSeconds: 0 });
  // An instance whose hold was refused stays due until it is stopped, which is a transaction of its own.
  const isStalled = plan?.kind === "refused" && activity !== "leaving";
  const isPlanned = plan?.kind === "placed" && activity !== "unproven";
  const seconds = isStalled || hasToStop ? 0 : isPlanned ? plan.seconds : period?.seconds;
  const plannedMs = unsettled.has(instance.id) ? SOON_MS : seconds === undefined ? undefined : seconds * 1000;
  const nextMs = isSoon && plannedMs !== undefined ? Math.min(plannedMs, NEW_LIMIT_MS) : plannedMs;
  return {
    id: instance.id,
    storageChargedUntilAt: bill.storageChargedUntilAt,
    settleAt: nextMs === undefined ? undefined : nextSettlement(now, { afterMs: nextMs, isShort }),
    holdId: activity === "unproven" && plan === undefined ? instance.holdId : plan?.holdId,
  };
}
