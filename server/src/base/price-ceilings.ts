import { invalid } from "./errors.ts";
import { formatDollars, type Nanos } from "./money.ts";

/** The highest prices that hosts may ask, set by the operator (docs/listing.md, Ceilings). */
export type PriceCeilings = { readonly trafficNanosPerGb: Nanos; readonly storageNanosPerGbMonth: Nanos };

/** Throws `invalid` naming the field and the ceiling when a GB of traffic costs more than the operator allows. */
export function refuseDearTraffic(field: string, price: Nanos, { trafficNanosPerGb: most }: PriceCeilings): void {
  if (price <= most) return;
  throw invalid(
    field,
    `${field} must be at most ${formatDollars(most)} dollars per GB, the operator's ceiling for traffic`,
  );
}

/** Throws `invalid` naming the field and the ceiling when a GB stored for a month costs more than the operator allows. */
export function refuseDearStorage(field: string, price: Nanos, { storageNanosPerGbMonth: most }: PriceCeilings): void {
  if (price <= most) return;
  const dollars = `${formatDollars(most)} dollars per GB and month`;
  throw invalid(field, `${field} must be at most ${dollars}, the operator's ceiling for storage`);
}
