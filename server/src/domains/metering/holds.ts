// What is set aside for what may run until the next settlement.
import type { InstanceId } from "../../base/ids.ts";
import { nanos, type Nanos } from "../../base/money.ts";
import type { Tx } from "../../db/transaction.ts";
import { HOLD_SECONDS, holdAmount, trafficAllowance, type Billable } from "../instances/index.ts";
import { placeHolds, type CapScope, type HoldId, type HoldRequest, type Limitation } from "../ledger/index.ts";
import { periodsFor } from "./period.ts";
import type { Item } from "./settlement.ts";

/** What an instance needs: the best period is tried first, and the next one if that cannot be set aside. */
export type HoldNeed = {
  readonly instance: Billable;
  readonly scopes: readonly CapScope[];
  readonly periods: readonly number[];
  readonly lastTrafficNanos: bigint;
  /** What is left of a deposit that pays for the running time. */
  readonly prepaidNanos: bigint;
};

export type HoldPlan =
  | { readonly kind: "placed"; readonly holdId: HoldId; readonly seconds: number }
  | { readonly kind: "refused"; readonly limitedBy: Limitation };

/** What an instance needs after this settlement. In passing, as little as possible. */
export function needOf(
  { facts: { instance, deposit }, bill, scopes, activity }: Item,
  {
    isPassing,
    isAmple,
    lastTrafficNanos,
  }: { readonly isPassing: boolean; readonly isAmple: boolean; readonly lastTrafficNanos: bigint },
): HoldNeed {
  const isPrepaid = instance.terms.discountPpm > 0 && deposit?.isClosed === false && bill.use?.isSpent !== true;
  return {
    instance,
    scopes,
    periods: isPassing ? [0] : periodsFor(activity, { isAmple }),
    lastTrafficNanos,
    prepaidNanos: isPrepaid ? (bill.use?.leftNanos ?? deposit.leftNanos) : 0n,
  };
}

/** What is asked for it at first, or after so many refusals. */
export function requestOf(need: HoldNeed, attempt: number): HoldRequest {
  return {
    userId: need.instance.userId,
    amount: amountOf(need, attempt),
    cause: { instance_id: need.instance.id },
    scopes: need.scopes,
  };
}

/** Sets aside what each of these needs, as many as there are by one statement for each length of period. */
export async function planHolds(tx: Tx, needs: readonly HoldNeed[]): Promise<ReadonlyMap<InstanceId, HoldPlan>> {
  const plans = new Map<InstanceId, HoldPlan>();
  let open = needs;
  for (let attempt = 0; open.length > 0; attempt += 1) {
    const outcomes = await placeHolds(
      tx,
      open.map((need) => requestOf(need, attempt)),
    );
    const refused: HoldNeed[] = [];
    for (const [index, need] of open.entries()) {
      const outcome = outcomes[index];
      const seconds = need.periods[attempt] ?? 0;
      if (outcome?.kind === "placed") {
        plans.set(need.instance.id, { kind: "placed", holdId: outcome.holdId, seconds });
      } else if (outcome !== undefined && attempt + 1 >= need.periods.length) {
        plans.set(need.instance.id, { kind: "refused", limitedBy: outcome.limitedBy });
      } else refused.push(need);
    }
    open = refused;
  }
  return plans;
}

/** The last resort is without an allowance for traffic. Nothing for the running time that a deposit is good for. */
function amountOf({ instance, periods, lastTrafficNanos, prepaidNanos }: HoldNeed, attempt: number): Nanos {
  const rates = { ...instance.terms, diskBytes: instance.diskBytes };
  // What waits for its devices cannot run for a day: it is settled when it gets them.
  const period = instance.phase === "scheduled" ? 0 : (periods[attempt] ?? 0);
  const seconds = period + HOLD_SECONDS;
  const isLastResort = attempt > 0 && attempt === periods.length - 1;
  const traffic = isLastResort || period === 0 ? 0n : trafficAllowance(instance.terms, lastTrafficNanos);
  const amount = holdAmount(rates, seconds);
  const isPrepaid = prepaidNanos >= amount;
  return nanos((isPrepaid ? holdAmount({ ...rates, priceNanosPerHour: 0n }, seconds) : amount) + traffic);
}
