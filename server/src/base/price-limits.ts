// How dear a thing may be. Amounts are PostgreSQL's bigint, up to nine billion dollars: nothing that is charged at once,
// set aside or forecast may come near that, whatever prices and sizes are asked for together. A line of running time or
// storage is of one day at most; the fastest line that is believed carries no more than a million GB in that time.
import { nanos } from "./money.ts";

/** Of one device for an hour. */
export const HOUR_PRICE_DOLLARS_MAX = 10_000;
/** Of a GB: stored for a month, sent or received. */
export const GB_PRICE_DOLLARS_MAX = 1_000;
/** Of all that one instance or volume stores, for a month: what a million GB cost at the largest price. */
export const STORAGE_NANOS_PER_MONTH_MAX = nanos(1_000_000_000_000_000_000n);
