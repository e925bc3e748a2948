// Upper limits of prices. Amounts are PostgreSQL's bigint, up to nine billion dollars: no amount that is charged at once,
// set aside or forecast may come near that, with all prices and sizes at their limits. A charge line of running time or
// storage covers one day at most; the fastest uplink that the server believes carries at most a million GB in that time.
import { nanos } from "./money.ts";

/** The highest price of one device, in dollars an hour. */
export const HOUR_PRICE_DOLLARS_MAX = 10_000;
/** The highest price of a GB, in dollars: stored for a month, sent or received. */
export const GB_PRICE_DOLLARS_MAX = 1_000;
/** The most that the storage of one instance or volume may cost a month: a million GB at the highest price. */
export const STORAGE_NANOS_PER_MONTH_MAX = nanos(1_000_000_000_000_000_000n);
