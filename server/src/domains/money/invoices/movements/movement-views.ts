import { epochSeconds } from "../../../../base/clock.ts";
import { dayText } from "../../../../base/moment.ts";
import { formatDollars, roundHalfUp, toDollars } from "../../../../base/money.ts";
import type { Movement } from "../../ledger/for-invoices.ts";
import type { UserId } from "../../../../base/ids.ts";
import type { Payout } from "../../payments/for-invoices.ts";
import { netAmount, serviceOf, signedAmount, typeOf } from "./rules/movements.ts";
import type { MovementRow, RawInvoice } from "./movement-schema.ts";

const NANOS_PER_CENT = 10_000_000n;
/** Amounts are shown to a thousandth of a dollar, as charges are: published clients print every digit that is there. */
const SHOWN_NANOS = 1_000_000n;
const PPM_PER_PERCENT = 10_000;

/** A movement as a row of the API. A payout begins with its invoice, and ends when it was paid or failed. */
export function viewMovement(movement: Movement, payout: Payout | undefined): MovementRow {
  const service = serviceOf(movement.code);
  const signed = signedAmount(movement);
  return {
    start: epochSeconds(movement.createdAt),
    end: payout?.settledAt === undefined ? null : epochSeconds(payout.settledAt),
    type: typeOf(movement),
    source: sourceOf(movement),
    description: payout === undefined ? movement.description : `${movement.description}, ${payoutText(payout)}`,
    amount: toDollars(roundHalfUp(signed, SHOWN_NANOS)),
    amount_exact: formatDollars(signed),
    metadata: {
      invoice_id: Number(movement.transferId),
      service,
      direction: movement.direction,
      ...(movement.accountKind === "deposit" ? { paid_from: "deposit" } : {}),
      ...(payout === undefined ? {} : { state: payout.state }),
    },
    items: [],
  };
}

function payoutText({ state, dueAt, settledAt }: Payout): string {
  return settledAt === undefined ? `due on ${dayText(dueAt)}` : `${state} on ${dayText(settledAt)}`;
}

/** The other account of a movement, or its instance. */
function sourceOf({ code, cause, counterparty }: Movement): string {
  if (code === "credit_transfer" && counterparty !== undefined) return `account-${counterparty}`;
  const { instance_id: instanceId } = cause;
  return instanceId === undefined ? serviceOf(code) : `instance-${instanceId}`;
}

/** The fields of a payout: its state, the time of payment, and the fee. */
function payoutFields(payout: Payout | undefined, at: number, cents: number, now: Date) {
  if (payout === undefined) {
    return { paid_on: at, payment_expected: at, is_delayed: false, cut_amount: 0, cut_percent: 0, failed: false };
  }
  const { state, settledAt, dueAt, fee, feePpm, failure } = payout;
  const cut = centsOf(fee);
  return {
    paid_on: state === "paid" && settledAt !== undefined ? epochSeconds(settledAt) : null,
    payment_expected: epochSeconds(dueAt),
    is_delayed: settledAt === undefined && dueAt < now,
    original_amount: cents - cut,
    cut_amount: cut,
    cut_percent: feePpm / PPM_PER_PERCENT,
    failed: state === "failed",
    error: failure === undefined ? null : { message: failure },
  };
}

function centsOf(amount: bigint): number {
  return Number(roundHalfUp(amount, NANOS_PER_CENT) / NANOS_PER_CENT);
}

/** A raw invoice of the API. Fields that Berth does not keep are null. */
export function viewRawInvoice(
  movement: Movement,
  {
    userId,
    payout,
    balanceAfter,
    now,
  }: {
    readonly userId: UserId;
    readonly payout: Payout | undefined;
    /** The user's credit after the movement; undefined for movements of earnings and deposits. */
    readonly balanceAfter: bigint | undefined;
    readonly now: Date;
  },
): RawInvoice {
  const at = epochSeconds(movement.createdAt);
  const cents = centsOf(netAmount(movement));
  return {
    id: Number(movement.transferId),
    user_id: userId,
    when: at,
    amount_cents: cents,
    original_amount: cents,
    is_credit: movement.direction === "in",
    balance_before: balanceAfter === undefined ? null : toDollars(balanceAfter - netAmount(movement)),
    balance_after: balanceAfter === undefined ? null : toDollars(balanceAfter),
    event_id: movement.key,
    extra: movement.cause,
    service: serviceOf(movement.code),
    stripe_charge: null,
    stripe_refund: null,
    stripe_payout: null,
    error: null,
    paypal_email: null,
    transfer_group: null,
    refunded: false,
    is_check: false,
    description: movement.description,
    ...payoutFields(payout, at, cents, now),
  };
}
