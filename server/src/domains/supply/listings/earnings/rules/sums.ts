import type { Columns } from "../../../../../base/filters/filter.ts";
import { toDollars } from "../../../../../base/money.ts";
import type { EarningTotal } from "../../../../money/ledger/for-listings.ts";
import type { UsageCode } from "../../../../money/ledger/index.ts";

/** Nano-dollars by component. */
export type EarnedSums = Readonly<Record<UsageCode, bigint>>;

const NOTHING: EarnedSums = {
  usage_gpu: 0n,
  usage_storage: 0n,
  usage_bandwidth_up: 0n,
  usage_bandwidth_down: 0n,
};

/** Adds amounts up by component, in nano-dollars. */
export function addUp(amounts: readonly Pick<EarningTotal, "code" | "amount">[]): EarnedSums {
  const sums: Record<UsageCode, bigint> = { ...NOTHING };
  for (const { code, amount } of amounts) sums[code] += amount;
  return sums;
}

/** Adds sums up by component. */
export function addSums(all: readonly EarnedSums[]): EarnedSums {
  const add = (code: UsageCode) => all.reduce((total, sums) => total + sums[code], 0n);
  return {
    usage_gpu: add("usage_gpu"),
    usage_storage: add("usage_storage"),
    usage_bandwidth_up: add("usage_bandwidth_up"),
    usage_bandwidth_down: add("usage_bandwidth_down"),
  };
}

/** The total of all components. */
export function totalOfSums(sums: EarnedSums): bigint {
  return Object.values(sums).reduce((total, amount) => total + amount, 0n);
}

/**
 * Dollars of sums, in the published fields. This server sells no service levels and pays for no referrals, so those
 * fields are zero.
 */
export function viewSums(sums: EarnedSums) {
  return {
    gpu_earn: toDollars(sums.usage_gpu),
    sto_earn: toDollars(sums.usage_storage),
    bwu_earn: toDollars(sums.usage_bandwidth_up),
    bwd_earn: toDollars(sums.usage_bandwidth_down),
    sla_earn: 0,
    referral_earn: 0,
    referral_count: 0,
    total_earn: toDollars(totalOfSums(sums)),
  };
}

const NAMES = ["gpu_earn", "sto_earn", "bwu_earn", "bwd_earn", "sla_earn", "referral_earn", "total_earn"] as const;

/** Columns of amounts by which rows are sorted. */
export const amountColumns: Columns<{ readonly sums: EarnedSums }> = Object.fromEntries(
  NAMES.map(
    (name) => [name, { type: "number", get: ({ sums }: { sums: EarnedSums }) => viewSums(sums)[name] }] as const,
  ),
);
