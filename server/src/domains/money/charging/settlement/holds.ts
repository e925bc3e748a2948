// Holds that cover what may run until the next settlement.
import type { InstanceId } from "../../../../base/ids.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import { HOLD_SECONDS, STOP_SECONDS } from "../../../../base/stop-times.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { holdAmount, trafficAllowance } from "../../../rental/instances/for-charging.ts";
import { placeHolds, type CapScope, type HoldId } from "../../ledger/index.ts";
import { UNTIL_STOPPED, type HoldRequest, type Limitation } from "../../ledger/for-charging.ts";
import type { Rooms } from "./payment.ts";
import { passingPeriods, periodsFor, type Lasting, type Period } from "../rules/period.ts";
import type { Item } from "./item.ts";
import type { Billable } from "./billable-store.ts";

/** The hold that an instance needs: the best period is tried first, and the next one when credit does not cover it. */
export type HoldNeed = {
  readonly instance: Billable;
  readonly scopes: readonly CapScope[];
  readonly periods: readonly Period[];
  readonly lastTrafficNanos: bigint;
  /** The remainder of a deposit that pays for the running time. */
  readonly prepaidNanos: bigint;
  /** True when it may be running now; `lagSeconds` is the time since its last count. */
  readonly isUp: boolean;
  readonly lagSeconds: number;
};

export type HoldPlan =
  | { readonly kind: "placed"; readonly holdId: HoldId; readonly seconds: number }
  /** It cannot run on; `holdId` covers the time until it has stopped for certain, as far as there is credit. */
  | { readonly kind: "refused"; readonly limitedBy: Limitation; readonly holdId: HoldId | undefined };

/** The hold that an instance needs after this settlement; as small as possible in a passing settlement. */
export function needOf(
  { facts: { instance, deposit }, bill, scopes, activity }: Item,
  {
    lasting,
    lagSeconds,
    lastTrafficNanos,
  }: {
    /** How long credit lasts; undefined in a passing settlement. */
    readonly lasting: Lasting | undefined;
    readonly lagSeconds: number;
    readonly lastTrafficNanos: bigint;
  },
): HoldNeed {
  const isPrepaid = instance.terms.discountPpm > 0 && deposit?.isClosed === false && bill.use?.isSpent !== true;
  return {
    instance,
    scopes,
    periods: lasting === undefined ? passingPeriods(lagSeconds) : periodsFor(activity, { lasting, lagSeconds }),
    lastTrafficNanos,
    prepaidNanos: isPrepaid ? (bill.use?.leftNanos ?? deposit.leftNanos) : 0n,
    isUp: activity === "active" || activity === "leaving",
    lagSeconds,
  };
}

/** The hold to request after so many refusals. */
export function requestOf(need: HoldNeed, attempt: number): HoldRequest {
  return {
    userId: need.instance.userId,
    amount: amountOf(need, attempt),
    cause: { instance_id: need.instance.id },
    scopes: need.scopes,
  };
}

/**
 * Places the holds that these instances need, with one statement for each length of period. For those that cannot run
 * on, it places a hold for the time until they have stopped.
 */
export async function planHolds(
  tx: Tx,
  needs: readonly HoldNeed[],
  rooms: Rooms,
): Promise<ReadonlyMap<InstanceId, HoldPlan>> {
  const plans = new Map<InstanceId, HoldPlan>();
  const leaving: Leaving[] = [];
  let open = needs;
  for (let attempt = 0; open.length > 0; attempt += 1) {
    const outcomes = await placeHolds(
      tx,
      open.map((need) => requestOf(need, attempt)),
    );
    const refused: HoldNeed[] = [];
    for (const [index, need] of open.entries()) {
      const outcome = outcomes[index];
      const seconds = need.periods[attempt]?.seconds ?? 0;
      if (outcome?.kind === "placed") {
        plans.set(need.instance.id, { kind: "placed", holdId: outcome.holdId, seconds });
      } else if (outcome !== undefined && attempt + 1 >= need.periods.length) {
        plans.set(need.instance.id, { kind: "refused", limitedBy: outcome.limitedBy, holdId: undefined });
        if (need.isUp) leaving.push({ need, limitedBy: outcome.limitedBy, amount: amountUntilStopped(need) });
      } else refused.push(need);
    }
    open = refused;
  }
  for (const [id, plan] of await holdUntilStopped(tx, leaving, rooms)) plans.set(id, plan);
  return plans;
}

type Leaving = { readonly need: HoldNeed; readonly limitedBy: Limitation; readonly amount: Nanos };

/**
 * Places holds for the time until these instances have stopped, as far as there is credit, so that nothing else spends
 * it meanwhile. A cap that holds from a later moment does not limit them: the time until then is paid beyond it.
 */
async function holdUntilStopped(
  tx: Tx,
  leaving: readonly Leaving[],
  rooms: Rooms,
): Promise<ReadonlyMap<InstanceId, HoldPlan>> {
  const plans = new Map<InstanceId, HoldPlan>();
  const holdsNow = (scope: CapScope) => !rooms.get(scope)?.some(({ holdsFromMs }) => holdsFromMs > tx.now.getTime());
  let open = leaving;
  while (open.length > 0) {
    const outcomes = await placeHolds(
      tx,
      open.map(({ need: { instance, scopes }, amount }) => ({
        userId: instance.userId,
        amount,
        cause: { instance_id: instance.id, [UNTIL_STOPPED]: true },
        scopes: scopes.filter(holdsNow),
      })),
    );
    open = open.flatMap((one, index) => {
      const outcome = outcomes[index];
      if (outcome?.kind !== "placed") {
        const amount = outcome?.availableNanos ?? nanos(0n);
        return amount > 0n ? [{ ...one, amount }] : [];
      }
      plans.set(one.need.instance.id, { kind: "refused", limitedBy: one.limitedBy, holdId: outcome.holdId });
      return [];
    });
  }
  return plans;
}

function amountUntilStopped({ instance, lagSeconds, prepaidNanos }: HoldNeed): Nanos {
  const rates = { ...instance.terms, diskBytes: instance.diskBytes };
  const amount = holdAmount(rates, STOP_SECONDS + lagSeconds);
  return prepaidNanos >= amount ? holdAmount({ ...rates, priceNanosPerHour: 0n }, STOP_SECONDS + lagSeconds) : amount;
}

/**
 * The amount of a hold, rounded up. Without an allowance for traffic when the remaining credit is being used up, and
 * without the running time that a deposit pays.
 */
function amountOf({ instance, periods, lastTrafficNanos, prepaidNanos }: HoldNeed, attempt: number): Nanos {
  const rates = { ...instance.terms, diskBytes: instance.diskBytes };
  const { seconds: period, marginSeconds } = periods[attempt] ?? { seconds: 0, marginSeconds: HOLD_SECONDS };
  // An instance that waits for its GPUs cannot run for a day: it is settled when it gets them.
  const seconds = (instance.phase === "scheduled" ? 0 : period) + marginSeconds;
  const hasAllowance = marginSeconds === HOLD_SECONDS && seconds > HOLD_SECONDS;
  const traffic = hasAllowance ? trafficAllowance(instance.terms, lastTrafficNanos) : 0n;
  const amount = holdAmount(rates, seconds);
  const isPrepaid = prepaidNanos >= amount;
  return nanos((isPrepaid ? holdAmount({ ...rates, priceNanosPerHour: 0n }, seconds) : amount) + traffic);
}
