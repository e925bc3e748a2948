import type { UserId } from "../../../base/ids.ts";
import { nanos, ZERO } from "../../../base/money.ts";
import type { Reader } from "../../../db/transaction.ts";
import { requireUser } from "../../people/accounts/index.ts";
import { balanceOf, listMovements, sumPrepaidMovements, type MovementSide } from "../ledger/index.ts";
import { readFeeDue } from "../payments/index.ts";
import { accruedOf, listDaySums, listMonthPortions, totalCharged } from "../charging/index.ts";
import { findLastDocument, readDocumentClock } from "./documents/document-store.ts";
import { cutOff } from "./documents/rules/document-usage.ts";
import { bothWays, CREDIT_CODES, FEE_SIDES, PAYOUT_SIDES } from "./movements/rules/movements.ts";
import { monthStart } from "./month.ts";
import type { ReportPlan } from "./rules/report.ts";
import type { InvoicesResponse } from "./schema.ts";
import { viewFee, viewPayment, viewReport, viewUsage } from "./views.ts";

/** A report has no pages: it ends after its newest items, so that no account can make it unbounded. */
const ITEMS_MAX = 10_000;
const BEGINNING = new Date(0);

/** The invoice report of a user, newest first, as `plan` limits it. */
export async function readReport(
  db: Reader,
  now: Date,
  { userId, plan }: { readonly userId: UserId; readonly plan: ReportPlan },
): Promise<InvoicesResponse> {
  const from = plan.from ?? BEGINNING;
  // Reports name the last instant that is in them; moments have no more than milliseconds.
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

/** Credit is what the report is about, and of earnings only what was paid out. */
function sidesOf({ hasPayments, hasPayouts, hasCharges }: ReportPlan): readonly MovementSide[] {
  return [
    ...(hasPayments ? bothWays(CREDIT_CODES) : []),
    ...(hasPayouts ? PAYOUT_SIDES : []),
    ...(hasCharges ? FEE_SIDES : []),
  ];
}

/**
 * What is on no monthly invoice yet, what runs up at this moment included; the fees taken since, with the one that is due
 * of what a host has earned (docs/payouts.md); and what can be spent.
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
    // Charged since, and on the last invoice all the same: it happened in its month.
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
