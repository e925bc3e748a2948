import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction, type Tx } from "../../db/transaction.ts";
import { listHostDoubts } from "../../domains/supply/hosts/for-assembly.ts";
import { listNewestPayoutHolds } from "../../domains/money/payments/for-assembly.ts";
import { placePayoutHold, releasePayoutHold } from "../../domains/money/payments/index.ts";
import type { Loop } from "../../base/loop-driver.ts";

const REASON_LENGTH_MAX = 500;

/**
 * Holds the payouts of hosts that are flagged, or of which no machine was ever verified, until the flag is cleared or a
 * machine is verified. A hold that an administrator released is not placed again, unless for a newer flag.
 */
export function payoutDoubtLoop({ database, clock }: { readonly database: Database; readonly clock: Clock }): Loop {
  return {
    name: "hold-doubtful-payouts",
    description: "Holds payouts of flagged hosts, and of hosts without a machine that was ever verified.",
    everyMs: 60_000,
    run: () => withTransaction(database, clock, holdDoubtful),
  };
}

async function holdDoubtful(tx: Tx): Promise<{ readonly placed: number; readonly released: number }> {
  const counts = { placed: 0, released: 0 };
  const holds = new Map(
    (await listNewestPayoutHolds(tx.db, ["flagged_host", "unverified"])).map((hold) => [
      `${hold.userId} ${hold.kind}`,
      hold,
    ]),
  );
  for (const { hostId: userId, flaggedAt, flag, isUnverified } of await listHostDoubts(tx.db)) {
    const doubts = [
      { kind: "flagged_host", since: flaggedAt, reason: flag ?? "", over: "No flag is open any more." },
      {
        kind: "unverified",
        since: isUnverified ? new Date(0) : undefined,
        reason: "None of your machines was ever verified. One that is verified, or an administrator, releases this.",
        over: "A machine of yours is verified.",
      },
    ] as const;
    for (const { kind, since, reason, over } of doubts) {
      const hold = holds.get(`${userId} ${kind}`);
      const isOpen = hold !== undefined && hold.released === undefined;
      if (since === undefined) {
        if (isOpen && (await releasePayoutHold(tx, { userId, kind, reason: over }))) counts.released += 1;
        continue;
      }
      const isForgiven = hold?.released?.by !== undefined && hold.released.at >= since;
      if (isOpen || isForgiven) continue;
      await placePayoutHold(tx, { userId, kind, reason: reason.slice(0, REASON_LENGTH_MAX) });
      counts.placed += 1;
    }
  }
  return counts;
}
