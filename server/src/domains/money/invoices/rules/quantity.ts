import type { ChargeComponent, ChargeSum } from "../../charging/for-invoices.ts";

type Unit = {
  readonly name: string;
  readonly unit: string;
  readonly label: string;
  /** The size of one unit in the counts of a sum (`ChargeSum.quantity` of charging). */
  readonly size: bigint;
};

const MS_PER_HOUR = 3_600_000n;
const MS_PER_MONTH = 2_592_000_000n;
const BYTES_PER_GB = 1_000_000_000n;

const UNITS: Readonly<Record<ChargeComponent, Unit>> = {
  gpu: { name: "GPU hours", unit: "h", label: "GPU", size: MS_PER_HOUR },
  disk: { name: "storage in GB-months", unit: "GB-month", label: "Storage", size: MS_PER_MONTH * BYTES_PER_GB },
  bwu: { name: "GB sent", unit: "GB", label: "Sent", size: BYTES_PER_GB },
  bwd: { name: "GB received", unit: "GB", label: "Received", size: BYTES_PER_GB },
};

/** Quantities are shown to a millionth. */
const MILLIONTHS = 1_000_000n;

/**
 * A quantity in the unit of its component, to a millionth; for display only, since amounts follow from charge lines.
 */
export function measured(component: ChargeComponent, counted: bigint): Unit & { readonly quantity: number } {
  const unit = UNITS[component];
  return { ...unit, quantity: Number((counted * MILLIONTHS * 2n + unit.size) / (unit.size * 2n)) / Number(MILLIONTHS) };
}

/**
 * Nano-dollars per unit: the price when it was constant, otherwise the average price of a unit, since the price
 * changed, contains a discount, or could not be paid in full; 0 without usage.
 */
export function rateOf({ component, quantity, amount, unpaid, ...sum }: ChargeSum): {
  readonly rateNanos: bigint;
  readonly isAverage: boolean;
} {
  const isAverage = sum.lowestPrice !== sum.highestPrice || sum.highestDiscountPpm > 0 || unpaid > 0n;
  if (!isAverage) return { rateNanos: sum.lowestPrice, isAverage };
  const rateNanos = quantity === 0n ? 0n : (amount * UNITS[component].size * 2n + quantity) / (quantity * 2n);
  return { rateNanos, isAverage };
}
