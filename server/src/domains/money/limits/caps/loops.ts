import type { Clock } from "../../../../base/clock.ts";
import type { Database } from "../../../../db/connect.ts";
import { withTransaction, type Tx } from "../../../../db/transaction.ts";
import type { Loop } from "../../../../base/loop-driver.ts";
import { listCapsToTellOf } from "../../ledger/for-limits.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { NEARLY_PERMILLE, notificationOf } from "./notifications.ts";

const CAPS_PER_TRANSACTION = 500;

export function capLoops({ database, clock }: { readonly database: Database; readonly clock: Clock }): readonly Loop[] {
  return [
    {
      name: "tell-of-caps",
      description: "Notifies accounts whose caps are reached or nearly reached.",
      everyMs: 30_000,
      run: async () => {
        let [told, afterId] = [0, 0];
        for (;;) {
          const from = afterId;
          const page = await withTransaction(database, clock, (tx) => tellOfCaps(tx, from));
          told += page.count;
          if (page.lastId === undefined) return { told };
          afterId = page.lastId;
        }
      },
    },
  ];
}

/** Notifies the owners of a page of caps after this id, each cap once a period. */
async function tellOfCaps(tx: Tx, afterId: number) {
  const which = { spentPermille: NEARLY_PERMILLE, afterId, limit: CAPS_PER_TRANSACTION };
  const caps = await listCapsToTellOf(tx.db, tx.now, which);
  const notifications = caps.flatMap((cap) => notificationOf(cap) ?? []);
  await postNotifications(tx, notifications);
  return { count: notifications.length, lastId: caps.length < CAPS_PER_TRANSACTION ? undefined : caps.at(-1)?.id };
}
