// Settles contracts in batches: facts become lines, lines become transfers, in one transaction.
import type { InstanceId, UserId } from "../../base/ids.ts";
import type { Tx } from "../../db/transaction.ts";
import { noteUses } from "../contracts/index.ts";
import {
  listOpenFaults,
  listInstanceCosts,
  lockUnchargedRuns,
  markCharged,
  markSettled,
  scopesOf,
  type Billable,
  type OpenFault,
} from "../instances/index.ts";
import {
  creditOf,
  depositOf,
  earningsOf,
  lockAccounts,
  lockCapRoom,
  LOSSES,
  noteSpending,
  postAllTransfers,
  readMeans,
  useHolds,
  type CapScope,
  type Limitation,
  type LockedAccounts,
} from "../ledger/index.ts";
import { listVolumeCosts } from "../volumes/index.ts";
import { billOf, loadFacts, type Bill, type InstanceFacts } from "./facts.ts";
import { giveCredits } from "./credit-service.ts";
import { needOf, planHolds, type HoldPlan } from "./holds.ts";
import { keepHolds } from "./kept-holds.ts";
import { insertLines, type Contract } from "./line-store.ts";
import { payLines, type Purse, type Rooms } from "./payment.ts";
import { activityOf, isAmple, needsHold, nextSettlement, periodsFor, type Activity } from "./period.ts";
import { transferOf, type Charge } from "./transfers.ts";

/** One instance in a batch. */
export type Item = {
  readonly facts: InstanceFacts;
  readonly bill: Bill;
  readonly contract: Contract;
  readonly scopes: readonly CapScope[];
  readonly activity: Activity;
};

/** Somebody who cannot set aside any more what may run until the next settlement. */
export type Stalled = { readonly id: InstanceId; readonly payerId: UserId; readonly limitedBy: Limitation };
export type BatchOutcome = { readonly lineCount: number; readonly stalled: readonly Stalled[] };
/**
 * What all of a user's costs in an hour, for those who were looked at. Whoever settles many batches keeps it over them:
 * a user's instances are in many of them, and each look reads all that he has.
 */
export type Rates = Map<UserId, bigint>;

/**
 * Settles these instances, whose locks the caller holds: what was set aside is freed, everything due is charged and paid
 * as far as there is something to pay from, and what may come until the next settlement is set aside anew, where it is not
 * the same. All of it, or nothing, and the same again changes nothing: each line is named by its stretch. In passing, as
 * little as possible is set aside, and they are due again at once.
 */
export async function settleInstances(
  tx: Tx,
  instances: readonly Billable[],
  { isPassing, rates }: { readonly isPassing: boolean; readonly rates?: Rates },
): Promise<BatchOutcome> {
  if (instances.length === 0) return { lineCount: 0, stalled: [] };
  const ids = instances.map(({ id }) => id);
  const runs = await lockUnchargedRuns(tx, ids);
  const items = (await loadFacts(tx.db, instances, runs)).map((facts) => toItem(facts, tx.now));
  const faults = await listOpenFaults(tx.db, ids);
  const known = isPassing ? undefined : await learnRates(tx, items, rates ?? new Map());
  const { accounts, purses, rooms, kept } = await openPurses(tx, items, { faults, rates: known });
  const charges = items.flatMap(({ bill, contract, scopes }) => {
    const purse = purses.get(contract.payerId) ?? { aboveZeroNanos: 0n, aboveFloorNanos: 0n };
    return payLines(bill.lines, { purse, rooms, scopes }).map((line): Charge => ({ line, contract, scopes }));
  });
  await postCharges(tx, charges, { accounts, rooms });
  await noteUses(
    tx,
    items.flatMap(({ facts, bill: { use } }) => (use === undefined ? [] : [{ instanceId: facts.instance.id, ...use }])),
  );
  const unsettled = await giveCredits(tx, items, { accounts, faults, runs });
  const plans = await renewHolds(tx, items, { purses, charges, kept, rates: known });
  const short = new Set(listShort(charges).map(({ instanceId }) => instanceId));
  await markCharged(tx, runs);
  await markSettled(
    tx,
    items.map((item) => {
      const { id } = item.facts.instance;
      return settledOf(item, { now: tx.now, plan: plans.get(id), unsettled, isShort: short.has(id) });
    }),
  );
  const stalled = items.flatMap(({ facts: { instance }, activity }): readonly Stalled[] => {
    const plan = plans.get(instance.id);
    const isWanted = activity === "active" || activity === "waiting";
    return isWanted && plan?.kind === "refused"
      ? [{ id: instance.id, payerId: instance.userId, limitedBy: plan.limitedBy }]
      : [];
  });
  return { lineCount: charges.length, stalled };
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

/** What there is to pay from, with the locks of all accounts that money may move between. */
export type Means = {
  readonly accounts: LockedAccounts;
  readonly purses: ReadonlyMap<UserId, Purse>;
  readonly rooms: Rooms;
};

type Plans = ReadonlyMap<InstanceId, HoldPlan>;

/**
 * Locks all that money may move between, in the one order of all, and frees what was set aside for this; what would be set
 * aside again as it is stays. Without rates nothing does.
 */
async function openPurses(
  tx: Tx,
  items: readonly Item[],
  { faults, rates }: { readonly faults: readonly OpenFault[]; readonly rates: Rates | undefined },
): Promise<Means & { readonly kept: Plans }> {
  const touched = items.filter(({ bill, activity, facts }) => {
    const hasHold = facts.instance.holdId !== undefined || needsHold(activity);
    return bill.lines.length > 0 || hasHold || faults.some((fault) => fault.instanceId === facts.instance.id);
  });
  const involved = touched.flatMap(({ contract: { payerId, hostId, instanceId }, facts: { deposit } }) => [
    creditOf(payerId),
    earningsOf(hostId),
    ...(deposit === undefined || instanceId === undefined ? [] : [depositOf(payerId, instanceId)]),
  ]);
  const accounts = await lockAccounts(tx, faults.length > 0 ? [...involved, LOSSES] : involved);
  const scopes = [...new Set(touched.flatMap((item) => item.scopes))];
  const limited: Rooms = new Map(await lockCapRoom(tx, scopes));
  const kept: Plans = rates === undefined ? new Map() : await keepHolds(tx, items, { rooms: limited, rates });
  await useHolds(
    tx,
    // What has not run yet keeps what was set aside for its start.
    items.flatMap(({ facts: { instance }, activity }) =>
      activity === "unproven" || kept.has(instance.id) ? [] : (instance.holdId ?? []),
    ),
  );
  const rooms: Rooms = limited.size === 0 ? limited : new Map(await lockCapRoom(tx, scopes));
  const payers = touched.map(({ contract }) => contract.payerId);
  const means = payers.length === 0 ? new Map() : await readMeans(tx.db, payers, "credit");
  const purses = new Map<UserId, Purse>();
  for (const [userId, { aboveZeroNanos, aboveFloorNanos }] of means) {
    purses.set(userId, { aboveZeroNanos, aboveFloorNanos });
  }
  return { accounts, purses, rooms, kept };
}

/** The contracts whose storage could not be paid in full. */
export function listShort(charges: readonly Charge[]): readonly Contract[] {
  return charges
    .filter(({ line }) => line.component === "disk" && line.unpaidNanos > 0n)
    .map(({ contract }) => contract);
}

/** Posts what is paid, counts it against the caps, and writes the lines. */
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

/** Sets aside what may come until the next settlement, without rates as little as possible. */
async function renewHolds(
  tx: Tx,
  items: readonly Item[],
  {
    purses,
    charges,
    kept,
    rates,
  }: {
    readonly purses: ReadonlyMap<UserId, Purse>;
    readonly charges: readonly Charge[];
    readonly kept: Plans;
    readonly rates: Rates | undefined;
  },
): Promise<Plans> {
  const holders = items.filter((item) => isHolder(item) && !kept.has(item.facts.instance.id));
  if (holders.length === 0) return kept;
  const traffic = new Map<InstanceId | undefined, bigint>();
  for (const { line, contract } of charges) {
    if (line.component !== "bwu" && line.component !== "bwd") continue;
    traffic.set(contract.instanceId, (traffic.get(contract.instanceId) ?? 0n) + line.amountNanos);
  }
  const placed = await planHolds(
    tx,
    holders.map((item) => {
      const { id, userId } = item.facts.instance;
      const spendable = purses.get(userId)?.aboveZeroNanos ?? 0n;
      return needOf(item, {
        isPassing: rates === undefined,
        isAmple: isAmple(spendable, rates?.get(userId) ?? 0n),
        lastTrafficNanos: traffic.get(id) ?? 0n,
      });
    }),
  );
  return new Map([...kept, ...placed]);
}

/** Whether something is set aside for it after a settlement. */
function isHolder({ activity, facts: { instance } }: Item): boolean {
  return activity === "active" || activity === "waiting" || (activity === "leaving" && instance.holdId !== undefined);
}

/** Adds what all that the owners of these have costs in an hour, as long as it goes on as it is now. */
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

/** A run that is being counted while its fault waits to be made good: it is over, so that is soon done. */
const SOON_MS = 10_000;

function settledOf(
  { facts: { instance }, bill, activity }: Item,
  {
    now,
    plan,
    unsettled,
    isShort,
  }: {
    readonly now: Date;
    readonly plan: HoldPlan | undefined;
    readonly unsettled: ReadonlySet<InstanceId>;
    readonly isShort: boolean;
  },
) {
  const [period] = periodsFor(activity, { isAmple: false });
  // Whoever could set nothing aside is due until he is stopped, which is a transaction of its own.
  const isStalled = plan?.kind === "refused" && activity !== "leaving";
  const seconds = isStalled ? 0 : plan?.kind === "placed" ? plan.seconds : period;
  const nextMs = unsettled.has(instance.id) ? SOON_MS : seconds === undefined ? undefined : seconds * 1000;
  return {
    id: instance.id,
    storageChargedUntilAt: bill.storageChargedUntilAt,
    settleAt: nextMs === undefined ? undefined : nextSettlement(now, { afterMs: nextMs, isShort }),
    holdId: activity === "unproven" ? instance.holdId : plan?.kind === "placed" ? plan.holdId : undefined,
  };
}
