import type { PayoutHoldId, UserId } from "../../../../base/ids.ts";
import { invariant } from "../../../../base/invariant.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { insertPayoutHold, listOpenPayoutHolds, storePayoutRelease, type PayoutHoldKind } from "./payout-hold-store.ts";

/**
 * Stops payouts to a host: until the hold is released, no payout is made or sent. The host is notified of the reason. A
 * host with an open hold of the kind keeps that one, with its reason. Returns the id of the open hold. A payout that
 * the provider is sending when the hold is placed may still arrive.
 */
export async function placePayoutHold(
  tx: Tx,
  {
    userId,
    kind,
    reason,
    placedBy,
  }: {
    readonly userId: UserId;
    readonly kind: PayoutHoldKind;
    /** One sentence for the host, at most 500 characters. */
    readonly reason: string;
    /** The administrator; undefined when a rule of the server placed the hold. */
    readonly placedBy?: UserId | undefined;
  },
): Promise<{ readonly id: PayoutHoldId; readonly isNew: boolean }> {
  const id = await insertPayoutHold(tx, { userId, kind, reason, placedBy });
  if (id === undefined) {
    const open = (await listOpenPayoutHolds(tx.db, userId)).find((hold) => hold.kind === kind);
    invariant(open !== undefined, "a payout hold that is there already is open");
    return { id: open.id, isNew: false };
  }
  await postNotifications(tx, [
    {
      userId,
      kind: "host:payout_held",
      subject: "Your payouts are held",
      message: `No payout is made or sent to you until the hold ${id} is released. Reason: ${reason}`,
      key: `payout_held:${id}`,
    },
  ]);
  return { id, isNew: true };
}

/**
 * Releases the open hold of the kind and notifies the host. Waiting payouts are sent once no hold is open. Returns
 * false when the host has no open hold of the kind.
 */
export async function releasePayoutHold(
  tx: Tx,
  {
    userId,
    kind,
    reason,
    releasedBy,
  }: {
    readonly userId: UserId;
    readonly kind: PayoutHoldKind;
    readonly reason: string;
    readonly releasedBy?: UserId | undefined;
  },
): Promise<boolean> {
  const released = await storePayoutRelease(tx, { userId, kind, by: releasedBy, reason });
  if (released === undefined) return false;
  const left = (await listOpenPayoutHolds(tx.db, userId)).length;
  const next =
    left === 0
      ? "Payouts that waited are sent now."
      : `Payouts wait for ${left} more ${left === 1 ? "hold" : "holds"}.`;
  await postNotifications(tx, [
    {
      userId,
      kind: "host:payout_released",
      subject: left === 0 ? "Your payouts go on" : "A hold on your payouts is released",
      message: `The hold ${released.id} on your payouts is released: ${reason} ${next}`,
      key: `payout_released:${released.id}`,
    },
  ]);
  return true;
}
