import { epochSeconds } from "../../../base/clock.ts";
import { SECONDS_PER_HOUR, SECONDS_PER_MONTH, toDollars } from "../../../base/money.ts";
import type { DepositBalance, Prepaid } from "./deposit-service.ts";
import type { PendingIncrease } from "./price-store.ts";

const PPM = 1e6;

export function viewPrepaid({ microMonths, discountPpm, leftNanos }: Prepaid) {
  return {
    success: true as const,
    timescale: Number(microMonths) / PPM,
    discount_rate: discountPpm / PPM,
    deposit: toDollars(leftNanos),
  };
}

export function viewBalance({ leftNanos, refundableNanos, savedNanos, discountPpm, months }: DepositBalance) {
  return {
    success: true as const,
    refundable_deposit: toDollars(refundableNanos),
    total_discount: toDollars(savedNanos),
    discount_months: months,
    deposit: toDollars(leftNanos),
    discount_rate: discountPpm / PPM,
  };
}

/** A pending price increase: dollars per GPU and second, per GB and second, per GB. Null means unchanged. */
export function viewIncrease({ id, prices, oldPrices, deviceCount, ...rest }: PendingIncrease, platformFee: number) {
  const perGpuSecond = (price: bigint) => toDollars(price) / deviceCount / Number(SECONDS_PER_HOUR);
  const perGbSecond = (price: bigint) => toDollars(price) / Number(SECONDS_PER_MONTH);
  const changed = (next: bigint, old: bigint, view: (price: bigint) => number) => (next === old ? null : view(next));
  return {
    pending_price_increase_id: id,
    contract_id: rest.instanceId,
    host_id: rest.hostId,
    old_gpu_costpersec: perGpuSecond(oldPrices.priceNanosPerHour),
    new_gpu_costpersec: changed(prices.priceNanosPerHour, oldPrices.priceNanosPerHour, perGpuSecond),
    old_disk_ram_costpersec: perGbSecond(oldPrices.storageNanosPerGbMonth),
    new_disk_ram_costpersec: changed(prices.storageNanosPerGbMonth, oldPrices.storageNanosPerGbMonth, perGbSecond),
    old_bwu_cost: toDollars(oldPrices.inetUpNanosPerGb),
    new_bwu_cost: changed(prices.inetUpNanosPerGb, oldPrices.inetUpNanosPerGb, toDollars),
    old_bwd_cost: toDollars(oldPrices.inetDownNanosPerGb),
    new_bwd_cost: changed(prices.inetDownNanosPerGb, oldPrices.inetDownNanosPerGb, toDollars),
    old_platform_fee: platformFee,
    new_platform_fee: null,
    contract_end_date: epochSeconds(rest.contractEndAt),
    ask_end_date: epochSeconds(rest.endAt),
    created_at: epochSeconds(rest.createdAt),
  };
}
