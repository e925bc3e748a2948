import type { UserId } from "../../../base/ids.ts";
import { nanos, ZERO } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { requireUser } from "../../people/accounts/index.ts";
import { balanceOf } from "../ledger/index.ts";
import { listMovements, sumPrepaidMovements, type MovementSide } from "../ledger/for-invoices.ts";
import { readFeeDue } from "../payments/index.ts";
import { accruedOf } from "../charging/index.ts";
import { listDaySums, listMonthPortions, totalCharged } from "../charging/for-invoices.ts";
import { findLastDocument, readDocumentClock } from "./documents/document-store.ts";
import { cutOff } from "./documents/rules/document-usage.ts";
import { bothWays, CREDIT_CODES, FEE_SIDES, PAYOUT_SIDES } from "./movements/rules/movements.ts";
import { monthStart } from "./month.ts";
import type { ReportPlan } from "./rules/report.ts";
import type { InvoicesResponse } from "./schema.ts";
import { viewFee, viewPayment, viewReport, viewUsage } from "./views.ts";

/** Items per report: a report has no pages, so it ends after its newest items. */
const ITEMS_MAX = 10_000;
const BEGINNING = new Date(0);

/** The invoice report of a user, newest first, with the content that `plan` selects. */
export async function readReport(
  db: Reader,
  now: Date,
  { userId, plan }: { readonly userId: UserId; readonly plan: ReportPlan },
): Promise<InvoicesResponse> {
  const from = plan.from ?? BEGINNING;
  // Reports include their last instant; moments have no more than milliseconds.
  const until = new Date((plan.to ?? new Date(now.getTime() + 60_000)).getTime() + 1);
  const page = { order: "when", isDescending: true, after: undefined, limit: ITEMS_MAX } as const;
  const [user, { movements }, usage, current] = await Promise.all([
    requireUser(db, userId),
    from < until ? listMovements(db, userId, { from, until, sides: sidesOf(plan), ...page }) : { movements: [] },
    plan.hasCharges && from < until
      ? listDaySums(db, { payerId: userId, from, until }, { limit: ITEMS_MAX, paidFrom: "credit" })
      : [],
    readCurrent(db, now, userId),
  ]);
  const items = [
    ...movements.map((movement) => (movement.code === "fee" ? viewFee(movement) : viewPayment(movement))),
    ...usage.filter(({ amount }) => amount > 0n).map(viewUsage),
  ];
  const newestFirst = items.toSorted((a, b) => b.timestamp - a.timestamp || b.id - a.id);
  return viewReport(user, newestFirst.slice(0, ITEMS_MAX), current);
}

/** The sides of movements in the report: all of the credit, and only payouts of the earnings. */
function sidesOf({ hasPayments, hasPayouts, hasCharges }: ReportPlan): readonly MovementSide[] {
  return [
    ...(hasPayments ? bothWays(CREDIT_CODES) : []),
    ...(hasPayouts ? PAYOUT_SIDES : []),
    ...(hasCharges ? FEE_SIDES : []),
  ];
}

/**
 * The amounts that are on no monthly invoice yet: charges including accrued usage, fees including the one due on the
 * host's earnings (docs/payouts.md), and the spendable credit.
 */
async function readCurrent(db: Reader, now: Date, userId: UserId) {
  const [{ nextFrom = now }, last] = await Promise.all([readDocumentClock(db), findLastDocument(db, userId, now)]);
  const openMs = Math.min(nextFrom.getTime(), monthStart(now).getTime());
  const from = new Date(Math.max(openMs, last?.until.getTime() ?? 0));
  const until = new Date(now.getTime() + 60_000);
  const isOpen = from < until;
  const isInvoiced = last?.until.getTime() === from.getTime() && last.content.edition !== undefined;
  const [charged, carried, moved, accrued, { available }, feeDue] = await Promise.all([
    isOpen ? totalCharged(db, { payerId: userId, from, until }) : { amount: ZERO },
    // Charged since, but on the last invoice, since the usage happened in its month.
    isInvoiced ? listMonthPortions(db, { payerId: userId, from, until: cutOff({ until: from }) }, from) : [],
    isOpen ? sumPrepaidMovements(db, userId, { from, until }) : [],
    accruedOf(db, now, userId),
    balanceOf(db, userId),
    readFeeDue(db, userId),
  ]);
  const fees = moved.filter(({ code, direction }) => code === "fee" && direction === "out");
  return {
    charges: nanos(carried.reduce((sum, { amount }) => sum - amount, charged.amount + accrued)),
    serviceFee: nanos(fees.reduce<bigint>((sum, { amount }) => sum + amount, feeDue.fee)),
    credit: available,
  };
}
