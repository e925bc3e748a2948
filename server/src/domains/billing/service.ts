import type { UserId } from "../../base/ids.ts";
import type { Reader } from "../../db/transaction.ts";
import { requireUser } from "../accounts/index.ts";
import {
  balanceOf,
  listTransfersOf,
  sumUsageOf,
  totalSpent,
  USAGE_CODES,
  type TransferCode,
  type TransferEntry,
} from "../ledger/index.ts";
import { monthStart, type ReportPlan } from "./report.ts";
import type { InvoicesResponse } from "./schema.ts";
import { viewFee, viewPayment, viewReport, viewUsage } from "./views.ts";

/** A report has no pages: it ends after its newest items, so that no account can make it unbounded. */
const ITEMS_MAX = 10_000;
const PAYMENT_CODES = [
  "credit_granted",
  "credit_transfer",
  "prepay",
  "refund",
] as const satisfies readonly TransferCode[];

/** The invoice report of a user, newest first, as `plan` limits it. */
export async function readReport(
  db: Reader,
  now: Date,
  { userId, plan }: { readonly userId: UserId; readonly plan: ReportPlan },
): Promise<InvoicesResponse> {
  const { from, to } = plan;
  const codes: TransferCode[] = [];
  if (plan.hasPayments) codes.push(...PAYMENT_CODES);
  if (plan.hasPayouts) codes.push("payout");
  if (plan.hasCharges) codes.push("fee");
  const since = monthStart(now);
  const [user, entries, usage, charges, serviceFee, { available }] = await Promise.all([
    requireUser(db, userId),
    listTransfersOf(db, userId, { from, to, codes, limit: ITEMS_MAX }),
    plan.hasCharges ? sumUsageOf(db, userId, { from, to, limit: ITEMS_MAX }) : [],
    totalSpent(db, userId, { from: since, codes: USAGE_CODES }),
    totalSpent(db, userId, { from: since, codes: ["fee"] }),
    balanceOf(db, userId),
  ]);
  const items = [...entries.filter(isOfReport).map((entry) => viewEntry(entry)), ...usage.map(viewUsage)]
    .toSorted((a, b) => b.timestamp - a.timestamp || b.id - a.id)
    .slice(0, ITEMS_MAX);
  return viewReport(user, items, { charges, serviceFee, credit: available });
}

/** Credit is what the report is about, and of earnings only what was paid out. */
function isOfReport({ accountKind, code, direction }: TransferEntry): boolean {
  if (code === "payout") return direction === "out";
  return accountKind === "credit";
}

function viewEntry(entry: TransferEntry) {
  return entry.code === "fee" ? viewFee(entry) : viewPayment(entry);
}
