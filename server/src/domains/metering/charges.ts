import { mulDivFloor, nanos, SECONDS_PER_HOUR, type Nanos } from "../../base/money.ts";

const MS_PER_SECOND = 1000n;

/** What a stretch of running costs: the price of an hour by its share, rounded towards the customer. */
export function runningCharge(priceNanosPerHour: bigint, { fromMs, toMs }: { fromMs: bigint; toMs: bigint }): Nanos {
  return nanos(mulDivFloor(priceNanosPerHour, toMs - fromMs, SECONDS_PER_HOUR * MS_PER_SECOND));
}
