import { epochSeconds } from "../../../base/clock.ts";
import { toDollars } from "../../../base/money.ts";
import type { SavedCard } from "./cards/card-store.ts";
import type { readAutobill } from "./cards/card-service.ts";
import { nanosOfCents } from "./rules/cents.ts";
import type { Payment } from "./top-ups/payment-store.ts";
import type { StoredPayoutMethod } from "./payouts/payout-method-store.ts";
import type { PayoutHold } from "./payouts/payout-hold-store.ts";
import type { Payout } from "./payouts/payout-store.ts";
import type { Payable } from "./payouts/rules/payable.ts";
import type { EarningsRules } from "./rules-store.ts";

const PPM_PER_PERCENT = 10_000;

export function viewPayment(payment: Payment) {
  return {
    id: payment.id,
    kind: payment.kind === "autobill" ? ("autobill" as const) : ("checkout" as const),
    state: payment.state,
    amount: dollarsOfCents(payment.amountCents ?? 0n),
    failure: payment.failure ?? null,
    created_at: epochSeconds(payment.createdAt),
    settled_at: secondsOf(payment.settledAt),
  };
}

export function viewCard(card: SavedCard) {
  return {
    id: card.id,
    brand: card.brand,
    last4: card.last4,
    exp_month: card.expiryMonth,
    exp_year: card.expiryYear,
    is_default: card.isDefault,
    created_at: epochSeconds(card.createdAt),
  };
}

export function viewAutobill(autobill: Awaited<ReturnType<typeof readAutobill>>) {
  return {
    success: true as const,
    enabled: autobill.isEnabled,
    threshold: toDollars(autobill.threshold),
    amount: dollarsOfCents(autobill.amountCents),
    last4: autobill.card?.last4 ?? null,
    failure_count: autobill.failureCount,
    retry_at: secondsOf(autobill.notBeforeAt),
  };
}

/** The destination without its details: a thief of a host's key must not learn where the money goes. */
export function viewPayoutMethod(stored: StoredPayoutMethod | undefined) {
  return {
    success: true as const,
    method: stored?.method ?? null,
    shown: stored?.shown ?? null,
    updated_at: secondsOf(stored?.updatedAt),
  };
}

export function viewPayout(payout: Payout) {
  return {
    id: payout.id,
    state: payout.state,
    invoiced_at: epochSeconds(payout.invoicedAt),
    due_at: epochSeconds(payout.dueAt),
    earned: toDollars(payout.earned),
    fee_percent: percentOf(payout.feePpm),
    fee: toDollars(payout.fee),
    amount: toDollars(payout.amount),
    method: payout.method ?? null,
    reference: payout.reference ?? null,
    failure: payout.failure ?? null,
    returned: toDollars(payout.returned),
    settled_at: secondsOf(payout.settledAt),
  };
}

export function viewPayoutHold({ id, kind, reason, placedAt }: PayoutHold) {
  return { id, kind, reason, placed_at: epochSeconds(placedAt) };
}

/** Earnings that are in no payout yet, and the reasons why parts of them wait. */
export function viewEarnings(
  { payable, granted, young, held, debt }: Payable,
  { cardHoldDays, grantedAfterDays }: EarningsRules,
) {
  return {
    balance: toDollars(payable + granted + young + held - debt),
    payable: toDollars(payable),
    granted: toDollars(granted),
    young: toDollars(young),
    held: toDollars(held),
    debt: toDollars(debt),
    card_hold_days: cardHoldDays,
    granted_after_days: grantedAfterDays ?? null,
  };
}

export function viewAdminPayoutHold(hold: PayoutHold) {
  return { ...viewPayoutHold(hold), user_id: hold.userId, placed_by: hold.placedBy ?? null };
}

/** `email` is the address of the host, or of a team's owner; undefined when the account is gone. */
export function viewAdminPayout(payout: Payout, email: string | undefined) {
  return { ...viewPayout(payout), user_id: payout.userId, email: email ?? null };
}

export function percentOf(ppm: number): number {
  return ppm / PPM_PER_PERCENT;
}

export function dollarsOfCents(cents: bigint): number {
  return toDollars(nanosOfCents(cents));
}

function secondsOf(at: Date | undefined): number | null {
  return at === undefined ? null : epochSeconds(at);
}
