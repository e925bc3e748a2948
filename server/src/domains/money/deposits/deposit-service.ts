import { AppError, insufficientFunds, invalid, notFound, throwRefusal } from "../../../base/errors.ts";
import type { InstanceId, UserId } from "../../../base/ids.ts";
import { invariant } from "../../../base/invariant.ts";
import { formatDollars, nanos, toDollars, type Nanos } from "../../../base/money.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { describeMachines, isWithdrawn, type MachineDescription } from "../../supply/hosts/index.ts";
import {
  changeDiscount,
  lockAnyInstance,
  lockInstanceOf,
  endDiscounts,
  readEnding,
  noDiscount,
  refusePrepaying,
  requireOwnInstance,
  type Instance,
  type Spender,
} from "../../rental/instances/for-deposits.ts";
import { findInstanceOf, scopesOf } from "../../rental/instances/index.ts";
import { creditOf, depositOf, describeScope, earningsOf, FEES, lockCapRoom, noteSpending } from "../ledger/index.ts";
import { postTransfer, postTransfers, type TransferRequest } from "../ledger/index.ts";
import { discountPpm } from "../../supply/market/index.ts";
import {
  DISCOUNT_MAX_PERMILLE,
  isPromiseBroken,
  largestDeposit,
  monthPrice,
  monthsLeft,
  refundOf,
  reservationOf,
  type DiscountCurve,
  type Refund,
  type Reservation,
} from "./rules/deposit.ts";
import {
  closeDeposit,
  findDeposit,
  isCharged,
  noteDeposit,
  noteSavings,
  type Deposit,
  type DepositUse,
} from "./deposit-store.ts";
import { findNextChange } from "./price-store.ts";

/** Charges what was counted so far, at the terms that held until now. The charging domain provides it. */
export type Settle = (tx: Tx, instanceId: InstanceId) => Promise<void>;

/**
 * The credit that an account can spend, less what has accrued; the account stays locked until the commit. The charging
 * domain provides it.
 */
export type LockSpendable = (tx: Tx, userId: UserId) => Promise<Nanos>;

export type Prepayment = Spender & {
  readonly userId: UserId;
  readonly instanceId: number;
  readonly amount: Nanos;
};

export type Prepaid = Reservation & { readonly leftNanos: Nanos };

/**
 * Moves credit into the deposit of an on-demand rental, which makes it reserved: while the deposit lasts, running costs
 * less. The discount follows from the whole deposit afterwards, so it may fall as well as rise.
 */
export async function prepay(
  tx: Tx,
  { userId, apiKeyId, instanceId, amount }: Prepayment,
  { settle, lockSpendable }: { readonly settle: Settle; readonly lockSpendable: LockSpendable },
): Promise<Prepaid> {
  const asked = requirePrepayable(await lockInstanceOf(tx, { userId, instanceId }), tx.now);
  await requireOwnInstance(tx.db, apiKeyId, asked);
  await settle(tx, asked.id);
  // Settling may have used the deposit up, and stopped an instance that cannot be paid.
  const instance = requirePrepayable(await lockInstanceOf(tx, { userId, instanceId }), tx.now);
  const deposit = await findDeposit(tx.db, instance.id);
  const machine = await requireMachine(tx, instance);
  const curve = curveOf(machine);
  if (curve(1) === 0) throw noDiscount(instance.id);
  const left = deposit?.leftNanos ?? nanos(0n);
  await refuseTooMuch(tx, { instance, left, amount, curve });
  const total = nanos(left + amount);
  const reservation = reservationOf(total, monthPrice(instance.priceNanosPerHour), curve);
  if (reservation.discountPpm === 0) throw invalid("amount", "amount is too small to earn a discount");
  await noteDeposit(tx, { instanceId: instance.id, userId, discountPpm: reservation.discountPpm });
  await changeDiscount(tx, instance, reservation.discountPpm);
  const spendable = await lockSpendable(tx, userId);
  await refuseBeyondCaps(tx, instance, amount);
  if (amount > spendable) throw insufficientForPrepaying(amount, spendable);
  const outcome = await postTransfer(tx, {
    key: `prepay:${instance.id}:${(deposit?.prepayCount ?? 0) + 1}`,
    debit: creditOf(userId),
    credit: depositOf(userId, instance.id),
    amount,
    code: "prepay",
    cause: { instance_id: instance.id, machine_id: machine.id, discount_ppm: reservation.discountPpm },
    description: `Instance ${instance.id} prepaid`,
  });
  invariant(outcome.kind === "posted", `deposit ${instance.id} counts its payments, and the credit is locked`);
  await noteSpending(tx, [{ scopes: scopesOf(instance), amount }]);
  return { ...reservation, leftNanos: total };
}

/**
 * The instance, if it can be reserved. Throws `invalid_args` with status 400, as published, for one that is not the
 * caller's or is destroyed.
 */
function requirePrepayable(instance: Instance | undefined, now: Date): Instance {
  throwRefusal(refusePrepaying(instance, now));
  invariant(instance !== undefined, "an instance that is not there is refused");
  return instance;
}

/** Refuses an amount beyond what the rental can use before it ends or its price changes. */
async function refuseTooMuch(
  tx: Tx,
  {
    instance,
    left,
    amount,
    curve,
  }: { readonly instance: Instance; readonly left: bigint; readonly amount: bigint; readonly curve: DiscountCurve },
): Promise<void> {
  const change = await findNextChange(tx.db, instance.id);
  const until = change !== undefined && change < instance.endAt ? change : instance.endAt;
  const untilMs = BigInt(until.getTime() - tx.now.getTime());
  const most = largestDeposit(untilMs, monthPrice(instance.priceNanosPerHour), curve);
  if (left + amount <= most) return;
  const largest = most > left ? most - left : 0n;
  const what = until === instance.endAt ? "ends" : "changes its price";
  const message =
    `amount is more than instance ${instance.id} can use before it ${what} on ${until.toISOString()}: ` +
    `at most $${formatDollars(largest)} can be prepaid now.`;
  throw invalid("amount", message, "rental_too_long", { extra: { max_amount: toDollars(largest) } });
}

/** Prepaid credit counts against caps when it is paid, and not again when it is used up. */
async function refuseBeyondCaps(tx: Tx, instance: Instance, amount: Nanos): Promise<void> {
  for (const [scope, room] of await lockCapRoom(tx, scopesOf(instance))) {
    if (amount <= room) continue;
    const missing = formatDollars(amount - room);
    const message = `A cap is reached: prepaying $${formatDollars(amount)} needs $${missing} more than the cap of ${describeScope(scope)} leaves.`;
    throw new AppError("insufficient_funds", "cap_reached", message, { extra: { shortfall: Number(missing) } });
  }
}

function insufficientForPrepaying(amount: Nanos, spendable: Nanos): AppError {
  const availableNanos = spendable > 0n ? spendable : nanos(0n);
  const shortfallNanos = nanos(amount - availableNanos);
  const [has, missing] = [formatDollars(availableNanos), formatDollars(shortfallNanos)];
  const message = `Insufficient credit: prepaying $${formatDollars(amount)} needs $${missing} more than the $${has} there is.`;
  const extra = { available: toDollars(availableNanos), shortfall: toDollars(shortfallNanos) };
  return insufficientFunds(message, { extra });
}

export function curveOf({ creditDiscountMaxPermille }: MachineDescription): DiscountCurve {
  const most = Math.min(creditDiscountMaxPermille, DISCOUNT_MAX_PERMILLE);
  return (months) => discountPpm(months, most);
}

export async function requireMachine({ db }: { readonly db: Reader }, { id, machineId }: Instance) {
  const machine = (await describeMachines(db, [machineId])).get(machineId);
  invariant(machine !== undefined, `instance ${id} lost its machine`);
  return machine;
}

/** Notes charges that deposits paid. A deposit that is used up gives no discount any more. */
export async function noteUses(tx: Tx, uses: readonly DepositUse[]): Promise<void> {
  await noteSavings(tx, uses);
  await endDiscounts(
    tx,
    uses.filter(({ isSpent }) => isSpent).map(({ instanceId }) => instanceId),
  );
}

export type DepositBalance = {
  readonly leftNanos: Nanos;
  readonly refundableNanos: Nanos;
  readonly savedNanos: Nanos;
  /** The discount on the present price, in millionths. */
  readonly discountPpm: number;
  /** The months that the deposit still lasts. */
  readonly months: number;
};

const NOTHING: DepositBalance = {
  leftNanos: nanos(0n),
  refundableNanos: nanos(0n),
  savedNanos: nanos(0n),
  discountPpm: 0,
  months: 0,
};

/**
 * The use of a deposit that is not posted yet; undefined when there is none. The charging domain provides it.
 */
export type DepositAccrualOf = (
  db: Reader,
  now: Date,
  instanceId: InstanceId,
) => Promise<{ readonly leftNanos: bigint; readonly savedNanos: bigint; readonly isSpent: boolean } | undefined>;

/** The credit in the deposit of a rental now, and the part that would come back if the rental were destroyed. */
export async function readDepositBalance(
  { db, now, accrualOf }: { readonly db: Reader; readonly now: Date; readonly accrualOf: DepositAccrualOf },
  { userId, instanceId }: { readonly userId: UserId; readonly instanceId: number },
): Promise<DepositBalance> {
  const instance = await findInstanceOf(db, userId, instanceId);
  if (instance === undefined || instance.phase === "ended") {
    throw notFound("no_such_instance", `There is no instance ${instanceId}.`);
  }
  const posted = await findDeposit(db, instance.id);
  if (posted === undefined) return NOTHING;
  const use = await accrualOf(db, now, instance.id);
  const deposit = use === undefined ? posted : afterUse(posted, use);
  const { leftNanos, savedNanos } = deposit;
  const { toRenter } = await divide({ db, now }, instance, deposit);
  const month = monthPrice(instance.priceNanosPerHour);
  const discountPpm = use?.isSpent === true ? 0 : instance.discountPpm;
  const months = discountPpm === 0 ? 0 : monthsLeft(leftNanos, month, discountPpm);
  return { leftNanos, refundableNanos: toRenter, savedNanos, discountPpm, months };
}

/** The deposit as it will be once this use is posted. */
function afterUse(
  deposit: Deposit,
  { leftNanos, savedNanos, isSpent }: NonNullable<Awaited<ReturnType<DepositAccrualOf>>>,
): Deposit {
  return {
    ...deposit,
    leftNanos: nanos(leftNanos),
    savedNanos: nanos(deposit.savedNanos + savedNanos),
    atStakeNanos: nanos(isSpent ? 0n : deposit.atStakeNanos + savedNanos),
  };
}

async function divide(
  { db, now }: { readonly db: Reader; readonly now: Date },
  instance: Instance,
  { leftNanos, atStakeNanos }: Deposit,
): Promise<Refund> {
  const machine = await requireMachine({ db }, instance);
  const ending = await readEnding(db, instance);
  const isWhole =
    ending.wasWantedToTheEnd ||
    isPromiseBroken({
      isEndedByHost: machine.hostId !== instance.userId && ending.endedEarlyBy === `user:${machine.hostId}`,
      verification: machine.verification,
      isWithdrawn: await isWithdrawn(db, machine.id),
      silentMs: machine.isConnected ? 0 : now.getTime() - machine.lastSeenAt.getTime(),
    });
  return refundOf({ leftNanos, atStakeNanos, isWhole });
}

/**
 * Returns the rest of the deposit of a rental that is over, and closes the deposit in the same transaction. False when
 * that was done before, or is not due yet.
 */
export async function returnDeposit(tx: Tx, instanceId: InstanceId): Promise<boolean> {
  const instance = await lockAnyInstance(tx, instanceId);
  if (instance?.phase !== "ended" || !(await isCharged(tx.db, instanceId))) return false;
  const deposit = await findDeposit(tx.db, instanceId);
  if (deposit === undefined || deposit.isClosed) return false;
  const { hostId, id: machineId } = await requireMachine(tx, instance);
  const refund = await divide(tx, instance, deposit);
  const { userId, prepayCount } = deposit;
  const cause = { instance_id: instanceId, machine_id: machineId };
  const take = (name: string, rest: Pick<TransferRequest, "credit" | "amount" | "code" | "description">) => ({
    key: `deposit:${instanceId}:${prepayCount}:${name}`,
    debit: depositOf(userId, instanceId),
    cause: rest.code === "usage_gpu" ? { ...cause, quantity: "0" } : cause,
    ...rest,
  });
  const what = `Instance ${instanceId}`;
  const requests: readonly TransferRequest[] = [
    take("refund", {
      credit: creditOf(userId),
      amount: refund.toRenter,
      code: "refund",
      description: `${what}: rest of the deposit`,
    }),
    // The full price for time that was charged with the discount.
    take("discount", {
      credit: earningsOf(hostId),
      amount: refund.toHost,
      code: "usage_gpu",
      description: `${what}: discount given back on an early end`,
    }),
    take("fee", { credit: FEES, amount: refund.fee, code: "fee", description: `${what}: fee for an early end` }),
  ];
  const outcomes = await postTransfers(
    tx,
    requests.filter(({ amount }) => amount > 0n),
  );
  invariant(
    outcomes.every(({ kind }) => kind === "posted"),
    `the deposit of instance ${instanceId} is divided once, into what it has`,
  );
  const closed = await closeDeposit(tx, instanceId);
  invariant(closed === "closed", `deposit ${instanceId} was closed although its instance was locked`);
  return true;
}
