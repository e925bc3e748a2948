import { toDollars } from "../../../../base/money.ts";
import { idOfScope, kindOfScope, type Cap } from "../../ledger/index.ts";
import { resetAt } from "../../ledger/for-limits.ts";

export function viewCap(
  { id, scope, period, limit, spent, held, holdsFromAt }: Cap,
  now: Date,
  stopsAt: Date | undefined,
) {
  const left = limit - spent - held;
  const resetsAt = resetAt(period, now);
  return {
    id,
    scope: kindOfScope(scope),
    scope_id: idOfScope(scope),
    period,
    limit: toDollars(limit),
    spent: toDollars(spent),
    held: toDollars(held),
    left: toDollars(left > 0n ? left : 0n),
    holds_from: holdsFromAt.getTime() / 1000,
    stops_at: stopsAt === undefined ? null : stopsAt.getTime() / 1000,
    resets_at: resetsAt === undefined ? null : resetsAt.getTime() / 1000,
  };
}
