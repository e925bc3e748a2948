import { invalid } from "../../../../base/errors.ts";
import { parseDollars, type Nanos } from "../../../../base/money.ts";

const TRAFFIC_LIMIT_DOLLARS_MAX = 1_000_000;

/** Reads the limit on traffic costs; throws `invalid` with the field when it is not an amount. */
export function readTrafficLimit(dollars: number, field = "traffic_limit"): Nanos {
  const limit = parseDollars(dollars);
  if (limit !== undefined && limit >= 0n && dollars >= 0 && dollars <= TRAFFIC_LIMIT_DOLLARS_MAX) return limit;
  throw invalid(field, `${field} must be from 0 to ${TRAFFIC_LIMIT_DOLLARS_MAX} dollars`);
}
