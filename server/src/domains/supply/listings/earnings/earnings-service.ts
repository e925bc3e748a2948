import { compileSort } from "../../../../base/filters/compile-filter.ts";
import { cutPage } from "../../../../base/filters/cursor.ts";
import type { MachineId, UserId } from "../../../../base/ids.ts";
import { toDollars } from "../../../../base/money.ts";
import type { Reader } from "../../../../db/transaction.ts";
import { totalEarningsBy, type EarningTotal } from "../../../money/ledger/for-listings.ts";
import { listHosted } from "../../hosts/for-listings.ts";
import { describeMachines } from "../../hosts/index.ts";
import { dayOf, meanReliability, type Reliability } from "../rules/earnings.ts";
import { orderColumns, type EarnedRow, type EarningsPagePlan, type EarningsPlan } from "./rules/earnings-plan.ts";
import { addSums, addUp, totalOfSums, viewSums } from "./rules/sums.ts";

const PPM = 1_000_000;

/** Dollars that a host's machines earned so far; undefined for an account that hosts nothing and never earned. */
export async function readEarnedSoFar(db: Reader, hostId: UserId, now: Date): Promise<number | undefined> {
  const totals = await sumSoFar(db, hostId, now);
  if (totals.length === 0 && (await listHosted(db, { hostId })).length === 0) return undefined;
  return toDollars(totalOfSums(addUp(totals)));
}

/** Sums of everything that a host earned so far, and the mean reliability of the host's machines. */
export async function readSummary(db: Reader, hostId: UserId, now: Date) {
  const totals = await sumSoFar(db, hostId, now);
  return { ...viewSums(addUp(totals)), reliability: meanReliability(await listReliability(db, hostId, undefined)) };
}

/** The present reliability of the host's machines, or of one of them. */
export async function listReliability(db: Reader, hostId: UserId, only: MachineId | undefined): Promise<Reliability> {
  const hosted = (await listHosted(db, { hostId })).map((machine) => machine.id);
  const ids = only === undefined ? hosted : hosted.filter((id) => id === only);
  const machines = await describeMachines(db, ids);
  return new Map([...machines].map(([id, { reliabilityPpm }]) => [id, reliabilityPpm / PPM]));
}

function sumSoFar(db: Reader, hostId: UserId, now: Date): Promise<readonly EarningTotal[]> {
  return totalEarningsBy(db, hostId, "nothing", { first: 0, last: dayOf(now) });
}

/** One page of earnings by day or by machine, with the total of all pages. */
export async function readEarningsPage(db: Reader, hostId: UserId, plan: EarningsPagePlan) {
  const { groupBy, order, token, limit } = plan;
  const rows = await readRows(db, hostId, groupBy, plan);
  const columns = orderColumns(groupBy);
  const page = cutPage(rows.toSorted(compileSort(order, columns)), columns, { name: "earnings", order, token, limit });
  return {
    success: true as const,
    total_rows: rows.length,
    rows_found: page.rows.length,
    rows: page.rows.map(({ of, sums }) => ({
      ...(groupBy === "day" ? { day: of } : { machine_id: of === 0 ? null : of }),
      ...viewSums(sums),
    })),
    next_token: page.nextToken,
    total: viewSums(addSums(rows.map(({ sums }) => sums))),
  };
}

/** Earnings of every day of a window, days without any too: what a chart draws. */
export async function readEarningsChart(db: Reader, hostId: UserId, plan: EarningsPlan) {
  const rows = await readRows(db, hostId, "day", plan);
  const sumsOf = new Map(rows.map(({ of, sums }) => [of, sums]));
  const { first, last } = plan.days;
  const days = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return {
    success: true as const,
    chart: days.map((day) => ({ day, ...viewSums(sumsOf.get(day) ?? addUp([])) })),
    total: viewSums(addSums(rows.map(({ sums }) => sums))),
  };
}

async function readRows(
  db: Reader,
  hostId: UserId,
  by: "day" | "machine",
  { days, machineIds }: EarningsPlan,
): Promise<readonly EarnedRow[]> {
  const totals = await totalEarningsBy(db, hostId, by, { ...days, machineIds });
  return [...Map.groupBy(totals, ({ of }) => of)].map(([of, own]) => ({ of, sums: addUp(own) }));
}
