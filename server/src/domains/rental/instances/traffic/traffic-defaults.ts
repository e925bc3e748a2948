import type { UserId } from "../../../../base/ids.ts";
import type { Nanos } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listAccountTrafficLimits } from "../../../people/accounts/for-instances.ts";
import { readTrafficRules, type TrafficRules } from "../../../supply/hosts/index.ts";
import type { InstanceTraffic } from "../instance.ts";
import type { NewInstance } from "../store.ts";
import { trafficLeft } from "./rules/traffic-budget.ts";

type TrafficDefaults = { readonly rules: TrafficRules; readonly limits: ReadonlyMap<UserId, Nanos> };

/** The traffic limits of new instances of these users whose orders set none. */
export async function readTrafficDefaults(db: Reader, userIds: readonly UserId[]): Promise<TrafficDefaults> {
  return { rules: await readTrafficRules(db), limits: await listAccountTrafficLimits(db, userIds) };
}

/** The traffic limit of a new instance: its order's, else its account's, else the budget. */
export function trafficOf(
  { trafficLimitNanos, userId }: { readonly trafficLimitNanos?: Nanos | undefined; readonly userId: UserId },
  { priceNanosPerHour }: Pick<NewInstance, "priceNanosPerHour">,
  { rules, limits }: TrafficDefaults,
): Required<Pick<InstanceTraffic, "limitNanos" | "leftNanos">> {
  const limitNanos = trafficLimitNanos ?? limits.get(userId);
  if (limitNanos !== undefined) return { limitNanos, leftNanos: undefined };
  const fresh = { limitNanos, spentNanos: 0n, leftNanos: undefined, leftAtMs: 0n };
  return { limitNanos, leftNanos: trafficLeft(fresh, { priceNanosPerHour, ranMs: 0n, rules }) };
}
