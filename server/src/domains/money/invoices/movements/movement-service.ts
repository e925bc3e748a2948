import { compileFilter, compileSort } from "../../../../base/filters/compile-filter.ts";
import type { Columns } from "../../../../base/filters/filter.ts";
import { writePageToken } from "../../../../base/filters/page-token.ts";
import { parseFilters, STRICT_FILTERS } from "../../../../base/filters/parse-filters.ts";
import { parseOrderBy, parseSelectCols } from "../../../../base/filters/parse-order.ts";
import { asId, type PayoutId, type UserId } from "../../../../base/ids.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { listMovements, placeOf, sumMovementsAfter, type Movement } from "../../ledger/for-invoices.ts";
import { sumCreditChargedAfter } from "../../charging/for-invoices.ts";
import { listPayouts, type Payout } from "../../payments/for-invoices.ts";
import { pagesOf, readLimit, type MovementsPlan } from "./rules/movement-plan.ts";
import type { RawInvoice } from "./movement-schema.ts";
import { viewMovement, viewRawInvoice } from "./movement-views.ts";
import { ALL_SIDES } from "./rules/movements.ts";

/** One page of movements. */
export async function readMovements(db: Reader, userId: UserId, plan: MovementsPlan) {
  const { movements, total } = await listMovements(db, userId, { ...plan, limit: plan.limit + 1 });
  const page = movements.slice(0, plan.limit);
  const last = page.at(-1);
  const place = last === undefined || movements.length <= plan.limit ? undefined : placeOf(last, plan.order);
  const payoutOf = await findPayouts(db, userId, page);
  return {
    success: true,
    count: page.length,
    total,
    next_token: place === undefined ? null : writePageToken(pagesOf(plan), [String(place.value), String(place.id)]),
    results: page.map((movement) => viewMovement(movement, payoutOf(movement))),
  };
}

/** The payouts of these movements: a movement only shows that a payout was invoiced, not its outcome. */
async function findPayouts(
  db: Reader,
  userId: UserId,
  movements: readonly Movement[],
): Promise<(movement: Movement) => Payout | undefined> {
  const idOf = ({ code, cause }: Movement): PayoutId | undefined => {
    const id = cause["payout_id"];
    return code === "payout" && typeof id === "number" ? asId<PayoutId>(id) : undefined;
  };
  const ids = movements.flatMap((movement) => idOf(movement) ?? []);
  const payouts = ids.length === 0 ? [] : await listPayouts(db, userId, { ids, limit: ids.length });
  const byId = new Map(payouts.map((payout) => [payout.id, payout]));
  return (movement) => {
    const id = idOf(movement);
    return id === undefined ? undefined : byId.get(id);
  };
}

const RAW_COLUMNS: Columns<RawInvoice> = {
  id: { type: "integer", get: (row) => row.id },
  user_id: { type: "integer", get: (row) => row.user_id },
  when: { type: "time", get: (row) => row.when },
  paid_on: { type: "time", get: (row) => row.paid_on },
  payment_expected: { type: "time", get: (row) => row.payment_expected },
  amount_cents: { type: "integer", get: (row) => row.amount_cents },
  original_amount: { type: "integer", get: (row) => row.original_amount },
  is_credit: { type: "boolean", get: (row) => row.is_credit },
  is_delayed: { type: "boolean", get: (row) => row.is_delayed },
  balance_before: { type: "number", get: (row) => row.balance_before },
  balance_after: { type: "number", get: (row) => row.balance_after },
  event_id: { type: "text", get: (row) => row.event_id },
  cut_amount: { type: "integer", get: (row) => row.cut_amount },
  cut_percent: { type: "number", get: (row) => row.cut_percent },
  service: { type: "text", get: (row) => row.service },
  paypal_email: { type: "text", get: (row) => row.paypal_email },
  transfer_group: { type: "text", get: (row) => row.transfer_group },
  failed: { type: "boolean", get: (row) => row.failed },
  refunded: { type: "boolean", get: (row) => row.refunded },
  is_check: { type: "boolean", get: (row) => row.is_check },
};

const BALANCES: ReadonlySet<string> = new Set(["balance_before", "balance_after"]);

/** The newest movements that a search covers, so that searching in memory ends. */
const SEARCHED_MAX = 10_000;
const LIMIT_DEFAULT = 1_000;
const [BEGINNING, END] = [new Date(0), new Date("9999-12-31T00:00:00Z")];

type RawQuery = {
  readonly select_filters?: string;
  readonly select_cols?: string;
  readonly order_by?: string;
  readonly limit?: number;
};

/** Raw invoices: one row for each of the newest movements that match the query. */
export async function searchInvoices(db: Reader, now: Date, userId: UserId, query: RawQuery) {
  const filters = parseFilters(query.select_filters, RAW_COLUMNS, { ...STRICT_FILTERS, source: "select_filters" });
  const order = parseOrderBy(query.order_by, RAW_COLUMNS, { source: "order_by" });
  const names = [...Object.keys(RAW_COLUMNS), "extra", "stripe_charge", "stripe_refund", "stripe_payout", "error"];
  const columns = parseSelectCols(query.select_cols, [...names, "description"], "select_cols");
  const limit = readLimit(query.limit, { fallback: LIMIT_DEFAULT, max: SEARCHED_MAX });
  const page = { order: "when", isDescending: true, after: undefined, limit: SEARCHED_MAX } as const;
  const { movements } = await listMovements(db, userId, { from: BEGINNING, until: END, sides: ALL_SIDES, ...page });
  const payoutOf = await findPayouts(db, userId, movements);
  // Balances sum up the whole account after a movement: those of the answer, unless they choose among all.
  const choosesByBalance = [...filters, ...order].some(({ column }) => BALANCES.has(column));
  const showsBalance = columns === undefined || [...BALANCES].some((name) => columns.has(name));
  const readBalances = (of: readonly Movement[]) => readBalancesAfter(db, userId, { movements: of, now });
  const view = (movement: Movement, balanceOf: BalanceOf) =>
    viewRawInvoice(movement, { userId, payout: payoutOf(movement), balanceAfter: balanceOf(movement), now });

  const known = await readBalances(choosesByBalance ? movements : []);
  const matches = compileFilter(filters, RAW_COLUMNS);
  const found = movements
    .map((movement) => ({ movement, row: view(movement, known) }))
    .filter(({ row }) => matches(row));
  const compare = compileSort(order, RAW_COLUMNS);
  const sorted = order.length === 0 ? found : found.toSorted((left, right) => compare(left.row, right.row));
  const answered = sorted.slice(0, limit).map(({ movement }) => movement);
  const balanceOf = choosesByBalance ? known : await readBalances(showsBalance ? answered : []);
  return answered
    .map((movement) => view(movement, balanceOf))
    .map((row) => (columns === undefined ? row : pick(row, columns)));
}

type BalanceOf = (movement: Movement) => bigint | undefined;

/**
 * The user's credit after each movement of it; undefined for movements of earnings and deposits. Computed back from the
 * present balance, so `db` has to be a snapshot.
 */
async function readBalancesAfter(
  db: Reader,
  userId: UserId,
  { movements, now }: { readonly movements: readonly Movement[]; readonly now: Date },
): Promise<BalanceOf> {
  const own = movements.filter(({ accountKind }) => accountKind === "credit");
  if (own.length === 0) return () => undefined;
  const places = own.map(({ transferId, createdAt }) => ({ transferId, at: createdAt }));
  const ids = own.map(({ transferId }) => transferId);
  const { balanceNanos, netAfter } = await sumMovementsAfter(db, userId, ids);
  const chargedAfter = await sumCreditChargedAfter(db, userId, places, now);
  return ({ accountKind, transferId }) =>
    accountKind === "credit"
      ? balanceNanos - (netAfter.get(transferId) ?? 0n) + (chargedAfter.get(transferId) ?? 0n)
      : undefined;
}

function pick(row: RawInvoice, columns: ReadonlySet<string>): Partial<RawInvoice> {
  return Object.fromEntries(Object.entries(row).filter(([name]) => columns.has(name)));
}
