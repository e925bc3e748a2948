import { nanos } from "../../../../../base/money.ts";
import type { ChargeSum } from "../../../charging/for-invoices.ts";

/** Usage as an invoice shows it. */
export type UsageSum = ChargeSum & {
  /** The saving by a discount. */
  readonly discount: bigint;
  /** True for usage of a month whose invoice had been issued before it was charged. */
  readonly isLate: boolean;
};

type Counted = ChargeSum & { readonly discount: bigint };
export type Month = { readonly from: Date; readonly until: Date };

/** Time after a month in which its usage is still charged to its invoice: storage is charged once a day. */
const CUT_OFF_MS = 30 * 3_600_000;

/**
 * The cut-off of a month: usage of the month that is charged before this instant is on its invoice, or on an earlier
 * one.
 */
export function cutOff({ until }: Pick<Month, "until">): Date {
  return new Date(until.getTime() + CUT_OFF_MS);
}

/**
 * The usage of a month's invoice: usage that happened in the month and was charged before its cut-off, and earlier
 * usage that was charged too late for the earlier invoices.
 */
export function usageIn(
  month: Month,
  {
    charged,
    before,
    after,
    late,
    beginnings,
  }: UsageParts & {
    /** The starts of the month's own usage, for the sums that `interrupted` names. */
    readonly beginnings: readonly (ContractComponent & { readonly from: Date })[];
  },
): readonly UsageSum[] {
  const [lessBefore, lessLate] = [totals(before), totals(late)];
  const begun = new Map(beginnings.map((beginning) => [keyOf(beginning), beginning.from.getTime()]));
  const own = [...Map.groupBy([...charged, ...after], keyOf)].flatMap(([key, parts]) => {
    const [first, ...others] = parts;
    if (first === undefined) return [];
    const sum = others.reduce(added, first);
    const rest = less(less(sum, lessBefore.get(key)), lessLate.get(key));
    if (rest.quantity === 0n && rest.amount === 0n && rest.unpaid === 0n) return [];
    const from = new Date(Math.max(begun.get(key) ?? sum.from.getTime(), month.from.getTime()));
    const to = new Date(Math.max(Math.min(sum.to.getTime(), month.until.getTime()), from.getTime()));
    return [{ ...rest, from, to, isLate: false }];
  });
  return [...own, ...late.map((sum) => ({ ...sum, isLate: true }))];
}

type ContractComponent = Pick<ChargeSum, "instanceId" | "volumeId" | "component">;

export type UsageParts = {
  /** All charges made in the month. */
  readonly charged: readonly Counted[];
  /** The part of `charged` that is on earlier invoices. */
  readonly before: readonly Counted[];
  /** Charges made between the month and its cut-off, for usage before its end. */
  readonly after: readonly Counted[];
  /** The part of all these whose usage happened before the month and is on no invoice yet. */
  readonly late: readonly Counted[];
};

/**
 * Sums with parts of earlier months that all ended before the month began; they do not state when the month's own usage
 * began.
 */
export function interrupted(month: Month, { before, late }: UsageParts): readonly ContractComponent[] {
  return [...totals([...before, ...late]).values()].filter(({ to }) => to < month.from);
}

function totals(sums: readonly Counted[]): ReadonlyMap<string, Counted> {
  const all = new Map<string, Counted>();
  for (const sum of sums) {
    const known = all.get(keyOf(sum));
    all.set(keyOf(sum), known === undefined ? sum : added(known, sum));
  }
  return all;
}

function keyOf({ instanceId, volumeId, component }: ContractComponent): string {
  return `${instanceId ?? 0} ${volumeId ?? 0} ${component}`;
}

function added(one: Counted, other: Counted): Counted {
  const earliest = one.from < other.from ? one.from : other.from;
  const latest = one.to > other.to ? one.to : other.to;
  return {
    ...one,
    from: earliest,
    to: latest,
    quantity: one.quantity + other.quantity,
    amount: nanos(one.amount + other.amount),
    unpaid: nanos(one.unpaid + other.unpaid),
    discount: one.discount + other.discount,
    lowestPrice: nanos(one.lowestPrice < other.lowestPrice ? one.lowestPrice : other.lowestPrice),
    highestPrice: nanos(one.highestPrice > other.highestPrice ? one.highestPrice : other.highestPrice),
    highestDiscountPpm: Math.max(one.highestDiscountPpm, other.highestDiscountPpm),
  };
}

function less(sum: Counted, part: Counted | undefined): Counted {
  if (part === undefined) return sum;
  return {
    ...sum,
    quantity: sum.quantity - part.quantity,
    amount: nanos(sum.amount - part.amount),
    unpaid: nanos(sum.unpaid - part.unpaid),
    discount: sum.discount - part.discount,
  };
}
