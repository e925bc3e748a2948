import { notFound, type AppError } from "../../../base/errors.ts";
import { parseId, type InstanceId, type MachineId, type PriceIncreaseId, type UserId } from "../../../base/ids.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import {
  changePrices,
  lockAnyInstance,
  lockInstanceOf,
  requireOwnInstance,
  type Instance,
  type Spender,
} from "../../rental/instances/for-deposits.ts";
import { extendRentals, listRentals } from "../../rental/instances/index.ts";
import { agreedPrices, increaseFor, type EndingRental, type ListedTerms } from "./rules/price-increase.ts";
import {
  findIncreaseInstance,
  findIncreaseOf,
  insertChange,
  listIncreases,
  listLastChanges,
  replaceIncreases,
  takeDueChange,
  takeIncrease,
  type NewIncrease,
  type PendingIncrease,
} from "./price-store.ts";

/** Bound of the increases in one answer, which says when there are more. */
const INCREASES_MAX = 1_000;

export type RelistedMachine = {
  readonly machineId: MachineId;
  readonly hostId: UserId;
  readonly newTerms: ListedTerms;
};

/** Rentals on a machine, each with the prices that hold at its end. */
export async function listEndingRentals(
  db: Reader,
  machineId: MachineId,
): Promise<readonly (EndingRental & { readonly id: InstanceId })[]> {
  const rentals = await listRentals(db, [machineId]);
  const accepted = await listLastChanges(
    db,
    rentals.map((rental) => rental.id),
  );
  return rentals.map((rental) => ({ ...rental, prices: agreedPrices(rental, accepted.get(rental.id) ?? rental) }));
}

/**
 * Asks the renters of a machine that was listed again for higher prices after their end dates: one pending price
 * increase for each rental, in place of any earlier one. Rentals whose prices do not rise get none: the listing extends
 * them. The caller holds the machine's lock. Returns the number of price increases.
 */
export async function offerPriceIncreases(tx: Tx, { machineId, hostId, newTerms }: RelistedMachine): Promise<number> {
  const increases = (await listEndingRentals(tx.db, machineId)).flatMap((rental): NewIncrease[] => {
    const prices = increaseFor(rental, newTerms);
    return prices === undefined ? [] : [{ instanceId: rental.id, hostId, prices, endAt: newTerms.offerEndAt }];
  });
  await replaceIncreases(tx, machineId, increases);
  return increases.length;
}

export async function readIncreases(
  db: Reader,
  now: Date,
  userId: UserId,
): Promise<{ readonly increases: readonly PendingIncrease[]; readonly isTruncated: boolean }> {
  const found = await listIncreases(db, userId, { now, limit: INCREASES_MAX + 1 });
  return { increases: found.slice(0, INCREASES_MAX), isTruncated: found.length > INCREASES_MAX };
}

export type IncreaseRequest = Spender & { readonly userId: UserId; readonly increaseId: number };

/**
 * Accepts a price increase: the rental lasts until the offered end, at its present prices until its present end and at
 * the new ones from that instant on.
 */
export async function acceptIncrease(tx: Tx, request: IncreaseRequest): Promise<InstanceId> {
  const { instance, id } = await requireIncrease(tx, request);
  await requireOwnInstance(tx.db, request.apiKeyId, instance);
  const increase = await takeIncrease(tx, id);
  if (increase === undefined || increase.endAt <= tx.now || increase.endAt <= instance.endAt) {
    throw noSuchIncrease(request);
  }
  await insertChange(tx, { instanceId: instance.id, startsAt: instance.endAt, prices: increase.prices });
  await extendRentals(tx, [instance.id], { endAt: increase.endAt, actor: `user:${request.userId}` });
  // A rental that waits for its deletion gets the new price at once.
  if (instance.endAt <= tx.now) await applyDueChange(tx, instance);
  return instance.id;
}

/**
 * Accepts the pending price increase of an instance. A host can replace it at any time, so a caller may name the one
 * that was seen: another one is refused.
 */
export async function acceptIncreaseOf(
  tx: Tx,
  {
    instanceId,
    increaseId,
    ...spender
  }: Spender & {
    readonly userId: UserId;
    readonly instanceId: number;
    readonly increaseId: number | undefined;
  },
): Promise<{ readonly increaseId: number; readonly instanceId: InstanceId }> {
  const id = parseId<InstanceId>(String(instanceId));
  const instance = id && (await lockInstanceOf(tx, { userId: spender.userId, instanceId: id }));
  const pendingId = instance && (await findIncreaseOf(tx.db, instance.id));
  if (pendingId === undefined || (increaseId !== undefined && increaseId !== pendingId)) {
    const named = increaseId === undefined ? "no pending price increase" : `no pending price increase ${increaseId}`;
    throw notFound("no_pending_price_increase", `Instance ${instanceId} has ${named}.`);
  }
  return { increaseId: pendingId, instanceId: await acceptIncrease(tx, { ...spender, increaseId: pendingId }) };
}

/** Rejects a price increase: the rental ends on its present end date. */
export async function rejectIncrease(tx: Tx, request: IncreaseRequest): Promise<InstanceId> {
  const { instance, id } = await requireIncrease(tx, request);
  if ((await takeIncrease(tx, id)) === undefined) throw noSuchIncrease(request);
  return instance.id;
}

async function requireIncrease(
  tx: Tx,
  request: IncreaseRequest,
): Promise<{ readonly instance: Instance; readonly id: PriceIncreaseId }> {
  const id = parseId<PriceIncreaseId>(String(request.increaseId));
  const instanceId = id && (await findIncreaseInstance(tx.db, id));
  const instance = instanceId && (await lockInstanceOf(tx, { userId: request.userId, instanceId }));
  if (id === undefined || instance === undefined || instance.desired === "destroyed") throw noSuchIncrease(request);
  return { instance, id };
}

function noSuchIncrease({ increaseId }: IncreaseRequest): AppError {
  return notFound("no_pending_price_increase", `Price increase ${increaseId} is not pending.`);
}

/** Switches a rental to the price that its renter has accepted for now. False when that was done before. */
export async function switchPrice(tx: Tx, instanceId: InstanceId): Promise<boolean> {
  const instance = await lockAnyInstance(tx, instanceId);
  return instance !== undefined && applyDueChange(tx, instance);
}

async function applyDueChange(tx: Tx, instance: Instance): Promise<boolean> {
  const prices = await takeDueChange(tx, instance.id);
  if (prices === undefined) return false;
  if (instance.phase !== "ended") await changePrices(tx, instance, agreedPrices(instance, prices));
  return true;
}
