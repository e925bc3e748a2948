import { AppError } from "../../../../base/errors.ts";
import { storageNanosPerHour } from "../../../../base/hourly-price.ts";
import type { UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import { nanos, type Nanos } from "../../../../base/money.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";
import { balanceOf, listCapsOfScopes, type Cap } from "../../../money/ledger/index.ts";
import { listVolumeCosts } from "../../../supply/volumes/index.ts";
import { newVolumeNanosPerHour } from "../../../supply/volumes/for-instances.ts";
import { scopesOf } from "../cap-scopes.ts";
import type { CreateOrder } from "./create-order.ts";
import { assessOrder, createInstances } from "./create.ts";
import { holdAmount } from "../rules/pricing.ts";
import { listInstanceCosts, NO_COST } from "../rate-store.ts";
import { readTrafficDefaults, trafficOf } from "../traffic/traffic-defaults.ts";
import { listInstancesById } from "../store.ts";

/** The use of an account that is not posted yet. */
export type AccruedOf = (db: Reader, now: Date, userId: UserId) => Promise<Nanos>;

/** The cost of a rental, and its effects on the account. */
export type Forecast = {
  readonly offerId: number;
  readonly gpuNanosPerHour: Nanos;
  readonly diskNanosPerHour: Nanos;
  /** The price of a volume that is rented with it. */
  readonly volumeNanosPerHour: Nanos;
  readonly inetUpNanosPerGb: Nanos;
  readonly inetDownNanosPerGb: Nanos;
  /** The costs that traffic may have when it starts, and whether its renter set that, or it is a budget that grows. */
  readonly traffic: { readonly limit: Nanos; readonly source: "budget" | "renter" };
  readonly hold: Nanos;
  readonly balance: Nanos;
  /** The hourly cost of the whole account, without this rental and with it. */
  readonly costNow: Nanos;
  readonly costAfter: Nanos;
  /** The caps that it would count against, in their state without it. */
  readonly caps: readonly Cap[];
  /** The reason why it would not start at once; undefined when it would. */
  readonly obstacle: Obstacle | undefined;
};

export type Obstacle = { readonly code: string; readonly message: string };

/**
 * Rents as ordered and describes the result, in a transaction that the caller rolls back. Throws the errors of the
 * order itself; only a lack of credit, or a cap that leaves too little, is part of the answer.
 */
export async function forecastOrder(tx: Tx, order: CreateOrder, accruedOf: AccruedOf): Promise<Forecast> {
  const { userId } = order;
  const { instance } = await assessOrder(tx, order);
  const caps = await listCapsOfScopes(tx.db, scopesOf(instance), tx.now);
  const { balance } = await balanceOf(tx.db, userId);
  const accrued = await accruedOf(tx.db, tx.now, userId);
  const costNow = await costOf(tx.db, userId);
  const diskNanosPerHour = nanos(storageNanosPerHour(instance));
  const volumeNanosPerHour = await newVolumeNanosPerHour(tx.db, order.volumeInfo);
  const traffic = trafficOf(order, instance, await readTrafficDefaults(tx.db, [userId]));
  const obstacle = await attempt(tx, order);
  // The forecast counts the price even if the rental is refused or waits, because it is to run.
  const running = order.target === "running" ? instance.priceNanosPerHour : 0n;
  return {
    offerId: order.offerId,
    gpuNanosPerHour: instance.priceNanosPerHour,
    diskNanosPerHour,
    volumeNanosPerHour,
    inetUpNanosPerGb: instance.inetUpNanosPerGb,
    inetDownNanosPerGb: instance.inetDownNanosPerGb,
    traffic: {
      limit: nanos(traffic.limitNanos ?? traffic.leftNanos ?? 0n),
      source: traffic.limitNanos === undefined ? "budget" : "renter",
    },
    hold: order.target === "running" ? holdAmount(instance) : nanos(0n),
    balance: nanos(balance - accrued),
    costNow,
    costAfter: nanos(costNow + running + diskNanosPerHour + volumeNanosPerHour),
    caps,
    obstacle,
  };
}

/** Rents as ordered, and returns the reason if it does not start at once. */
async function attempt(tx: Tx, order: CreateOrder): Promise<Obstacle | undefined> {
  const [outcome] = await createInstances(tx, [order]);
  invariant(outcome !== undefined, "each order has its outcome");
  if (outcome instanceof AppError) {
    if (outcome.kind !== "insufficient_funds") throw outcome;
    return { code: outcome.code, message: outcome.publicMessage };
  }
  if (outcome.waiting !== undefined) return { code: "bid_too_low", message: outcome.waiting };
  if (order.target === "stopped") return { code: "made_stopped", message: "It is created stopped, as you asked." };
  const [made] = await listInstancesById(tx.db, [order.instanceId]);
  if (made?.phase === "starting") return undefined;
  return { code: "waits_for_devices", message: "It waits until its GPUs are free." };
}

/** The hourly cost of everything that the user runs and stores. */
async function costOf(db: Reader, userId: UserId): Promise<Nanos> {
  const { runningNanosPerHour, storageNanosPerHour: storage } =
    (await listInstanceCosts(db, [userId])).get(userId) ?? NO_COST;
  const volumes = (await listVolumeCosts(db, [userId])).get(userId) ?? 0n;
  return nanos(runningNanosPerHour + storage + volumes);
}
