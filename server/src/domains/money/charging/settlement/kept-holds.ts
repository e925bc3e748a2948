// A settlement closes each hold and places a new one. When both are equal, nothing is written: for an account with
// ample credit these would be most of a settlement's writes besides its charge lines.
import type { InstanceId, UserId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { listHoldsAlike } from "../../ledger/for-charging.ts";
import { readMeans, type HoldId } from "../../ledger/index.ts";
import { needOf, requestOf, type HoldPlan } from "./holds.ts";
import { lineAmount, type DueLine } from "../lines/lines.ts";
import type { Rooms } from "./payment.ts";
import { isAmple } from "../rules/period.ts";
import type { Item, Rates } from "./item.ts";

/**
 * Those of these instances whose holds stay, since the new hold would be equal: without the hold, credit covers
 * everything that their owner owes and lasts long, and no cap limits them. The caller holds the locks of accounts and
 * caps, and nothing is paid yet.
 */
export async function keepHolds(
  tx: Tx,
  items: readonly Item[],
  { rooms, rates }: { readonly rooms: Rooms; readonly rates: Rates },
): Promise<ReadonlyMap<InstanceId, HoldPlan & { readonly kind: "placed" }>> {
  const means = await readMeans(
    tx.db,
    items.map(({ contract }) => contract.payerId),
    "credit",
  );
  const due = new Map<UserId, bigint>();
  for (const { bill, contract } of items)
    due.set(contract.payerId, (due.get(contract.payerId) ?? 0n) + sumOf(bill.lines));
  const isRich = (userId: UserId) => {
    const left = (means.get(userId)?.aboveZeroNanos ?? 0n) - (due.get(userId) ?? 0n);
    return left > 0n && isAmple(left, rates.get(userId) ?? 0n);
  };
  const candidates = items.flatMap((item) => {
    const { holdId, userId } = item.facts.instance;
    const isFree = item.activity === "active" && !item.scopes.some((scope) => rooms.has(scope));
    if (holdId === undefined || !isFree || !isRich(userId)) return [];
    const traffic = item.bill.lines.filter(({ component }) => component === "bwu" || component === "bwd");
    const need = needOf(item, { lasting: "days", lagSeconds: 0, lastTrafficNanos: sumOf(traffic) });
    return [{ item, holdId, seconds: need.periods[0]?.seconds ?? 0, request: requestOf(need, 0) }];
  });
  const alike: ReadonlySet<HoldId> = new Set(
    await listHoldsAlike(
      tx.db,
      candidates.map(({ holdId, request }) => ({ ...request, holdId })),
    ),
  );
  return new Map(
    candidates
      .filter(({ holdId }) => alike.has(holdId))
      .map(({ item, holdId, seconds }) => [item.facts.instance.id, { kind: "placed", holdId, seconds }]),
  );
}

function sumOf(lines: readonly DueLine[]): bigint {
  return lines.reduce((sum, line) => (line.paidFrom === "credit" ? sum + lineAmount(line) : sum), 0n);
}
