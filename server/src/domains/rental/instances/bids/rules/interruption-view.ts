import { epochSeconds } from "../../../../../base/clock.ts";
import { toDollars } from "../../../../../base/money.ts";
import type { Rank } from "../../../../supply/market/for-instances.ts";
import type { Instance } from "../../instance.ts";

/** The eviction notice of an instance; null without one. */
export function viewInterruption({ phase, phaseCause, phaseSinceAt, deadlineAt }: Instance, rank?: Rank) {
  if (phase !== "yielding" || deadlineAt === undefined) return null;
  return {
    reason: phaseCause === "on_demand" ? ("on_demand" as const) : ("outbid" as const),
    noticed_at: epochSeconds(phaseSinceAt),
    stops_at: epochSeconds(deadlineAt),
    ...bidsIn(rank),
  };
}

/** The reason why an instance that should run waits; null for any other instance. */
export function viewWaiting({ phase, desired, isBid }: Instance, isHostThere: boolean, rank?: Rank) {
  const isWaiting = phase === "scheduled" || (phase === "stopping" && desired === "running" && isBid);
  if (!isWaiting || rank === undefined) return null;
  const { restsUntilMs, aheadCount } = rank;
  return {
    reason: isHostThere ? reasonOf(rank) : ("host" as const),
    ahead: aheadCount,
    ...bidsIn(rank),
    resumes_no_earlier_than: restsUntilMs === undefined ? null : epochSeconds(new Date(restsUntilMs)),
  };
}

function reasonOf({ isServed, isResting, bidToRunNanos, winningBidNanos }: Rank) {
  if (isResting) return "slice" as const;
  const isBeyondBids = bidToRunNanos === undefined && winningBidNanos === undefined;
  return isServed || isBeyondBids ? ("devices" as const) : ("outbid" as const);
}

function bidsIn(rank: Rank | undefined) {
  return {
    winning_bid: inDollars(rank?.winningBidNanos),
    bid_to_run_now: inDollars(rank?.bidToRunNanos),
  };
}

function inDollars(amount: bigint | undefined): number | null {
  return amount === undefined ? null : toDollars(amount);
}
