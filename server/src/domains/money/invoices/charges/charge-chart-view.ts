import { formatDollars, toDollars } from "../../../../base/money.ts";
import type { DayTotal } from "../../charging/for-invoices.ts";
import type { ChargesChartResponse } from "./charge-schema.ts";

const DAY_S = 86_400;

/** The chart of these sums: one entry for each day from `first` until `end`, exclusive, and the total. */
export function viewChart(
  totals: readonly DayTotal[],
  { first, end }: { readonly first: number; readonly end: number },
): ChargesChartResponse {
  const byDay = Map.groupBy(totals, ({ day }) => day);
  return {
    success: true,
    chart: Array.from({ length: end - first }, (_, index) => first + index).map((day) => ({
      day,
      start: day * DAY_S,
      end: (day + 1) * DAY_S,
      ...viewSums(byDay.get(day) ?? []),
    })),
    total: viewSums(totals),
  };
}

/** Dollars by kind and by component, added up in nano-dollars. */
function viewSums(totals: readonly DayTotal[]) {
  const sum = (isWanted: (one: DayTotal) => boolean) =>
    totals.reduce((total, one) => (isWanted(one) ? total + one.amount : total), 0n);
  const ofKind = (kind: DayTotal["kind"]) => toDollars(sum((one) => one.kind === kind));
  const ofComponent = (component: DayTotal["component"]) => toDollars(sum((one) => one.component === component));
  const amount = sum(() => true);
  return {
    instance: ofKind("instance"),
    serverless: ofKind("serverless"),
    volume: ofKind("volume"),
    gpu: ofComponent("gpu"),
    disk: ofComponent("disk"),
    bwd: ofComponent("bwd"),
    bwu: ofComponent("bwu"),
    amount: toDollars(amount),
    amount_exact: formatDollars(amount),
  };
}
