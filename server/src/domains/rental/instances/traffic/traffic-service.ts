import { forbidden, invalid, throwRefusal } from "../../../../base/errors.ts";
import type { InstanceId } from "../../../../base/ids.ts";
import type { Identity } from "../../../../base/identity.ts";
import { formatDollars, nanos, type Nanos } from "../../../../base/money.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { requireOwnInstance } from "../own-spending.ts";
import { requireInstance, type InstanceRequest } from "../service.ts";
import { lockAnyInstance } from "../rentals/terms-service.ts";
import { readTrafficDefaults, trafficOf } from "./traffic-defaults.ts";
import { listTrafficAccounts, storeTrafficLimit } from "./traffic-store.ts";
import { applyHappenings } from "../lifecycle/transitions.ts";
import { refuseGone } from "../rules/refusals.ts";

/** Settles an instance whose locks the caller holds: earlier use is charged under the earlier limit. */
export type SettleInstance = (tx: Tx, id: InstanceId) => Promise<void>;

/**
 * Sets the limit of all traffic costs of an instance, from the next byte on. Without a limit the instance gets that of
 * a new one: the account's, or a budget that begins now. Throws `invalid` below the present costs, and `forbidden` for
 * the key inside the container, which the host can read.
 */
export async function changeTrafficLimit(
  tx: Tx,
  request: InstanceRequest,
  {
    limitNanos,
    identity,
    settle,
  }: { readonly limitNanos: Nanos | undefined; readonly identity: Identity; readonly settle: SettleInstance },
): Promise<void> {
  if (identity.instanceId !== undefined) {
    throw forbidden("The key inside an instance may not change traffic_limit: its host could use it.");
  }
  const instance = await requireInstance(tx, request);
  throwRefusal(refuseGone(instance));
  const { id, userId, priceNanosPerHour } = instance;
  await requireOwnInstance(tx.db, identity.apiKeyId, instance);
  await settle(tx, id);
  const [account] = await listTrafficAccounts(tx.db, [id]);
  const [spent, ranMs] = [account?.spentNanos ?? 0n, account?.ranMs ?? 0n];
  const defaults = await readTrafficDefaults(tx.db, [userId]);
  const traffic = trafficOf({ trafficLimitNanos: limitNanos, userId }, { priceNanosPerHour }, defaults);
  if (traffic.limitNanos !== undefined && traffic.limitNanos < spent) {
    const whose = limitNanos === undefined ? "The traffic_limit of the account" : "traffic_limit";
    throw invalid(
      "traffic_limit",
      `${whose} must be at least the $${formatDollars(nanos(spent))} that traffic has cost so far`,
    );
  }
  await storeTrafficLimit(tx, id, { ...traffic, leftAtMs: ranMs });
}

/** Stops an instance whose traffic reached its limit, keeps its data, and tells its renter how to go on. */
export async function stopFlooded(tx: Tx, id: InstanceId): Promise<boolean> {
  const instance = await lockAnyInstance(tx, id);
  const isWanted = instance?.desired === "running" && instance.phase !== "ending" && instance.phase !== "ended";
  if (!isWanted || !instance.traffic.isReached) return false;
  const cause = "traffic_limit_reached";
  await applyHappenings(tx, [{ instance, event: "stopRequested", actor: "rule", cause, desired: "stopped" }]);
  const spent = formatDollars(instance.traffic.spentNanos);
  await postNotifications(tx, [
    {
      userId: instance.userId,
      kind: "client:traffic_limit_reached",
      subject: `Instance ${id} is stopped: its traffic reached the limit`,
      message: `The traffic of instance ${id} has cost $${spent}, as much as its limit allows. Traffic beyond it is not charged, and its data is kept. Set a higher limit and start it again: berth traffic-limit ${id} <dollars>.`,
      key: `client:traffic_limit_reached:${id}:${spent}`,
    },
  ]);
  return true;
}
