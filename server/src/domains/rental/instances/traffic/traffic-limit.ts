import { invalid } from "../../../../base/errors.ts";
import { parseDollars, type Nanos } from "../../../../base/money.ts";
import type { Instance } from "../instance.ts";

const TRAFFIC_LIMIT_DOLLARS_MAX = 1_000_000;

/** Reads the limit on traffic costs; throws `invalid` with the field when it is not an amount. */
export function readTrafficLimit(dollars: number, field = "traffic_limit"): Nanos {
  const limit = parseDollars(dollars);
  if (limit !== undefined && limit >= 0n && dollars >= 0 && dollars <= TRAFFIC_LIMIT_DOLLARS_MAX) return limit;
  throw invalid(field, `${field} must be from 0 to ${TRAFFIC_LIMIT_DOLLARS_MAX} dollars`);
}

/** Throws when an instance may not start because its traffic has reached its limit. */
export function requireTrafficRoom({ id, traffic }: Pick<Instance, "id" | "traffic">): void {
  if (!traffic.isReached) return;
  throw invalid(
    "id",
    `The traffic of instance ${id} has reached its limit; set a higher traffic_limit, and it starts again.`,
    "traffic_limit_reached",
  );
}
