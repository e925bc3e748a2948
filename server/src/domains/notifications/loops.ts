import type { Clock } from "../../base/clock.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import type { Loop } from "../../base/loop-driver.ts";
import type { Deliverer } from "./delivery/deliverer.ts";
import { sendDirectMails } from "./delivery/direct-mail.ts";
import { deleteOldNotifications } from "./inbox/store.ts";

export const DELIVER_LOOP = "deliver-notices";

const KEPT_MS = 90 * 86_400_000;
const ROWS_PER_ROUND = 5_000;
const ROUNDS_PER_RUN = 200;

export function deliverLoop(deliverer: Deliverer): Loop {
  return {
    name: DELIVER_LOOP,
    description: "Delivers notifications to webhooks and mailboxes.",
    everyMs: 5_000,
    run: () => deliverer.run(),
  };
}

export function mailLoop(ports: Parameters<typeof sendDirectMails>[0]): Loop {
  return {
    name: "send-mails",
    description: "Mails tokens that prove addresses, and invitations to teams.",
    everyMs: 5_000,
    run: () => sendDirectMails(ports),
  };
}

export function notificationLoops({
  database,
  clock,
}: {
  readonly database: Database;
  readonly clock: Clock;
}): readonly Loop[] {
  return [
    {
      name: "forget-notices",
      description: "Deletes notifications that are older than 90 days.",
      everyMs: 3_600_000,
      run: async () => {
        let forgotten = 0;
        for (let round = 1; round <= ROUNDS_PER_RUN; round += 1) {
          const count = await withTransaction(database, clock, (tx) =>
            deleteOldNotifications(tx, new Date(tx.now.getTime() - KEPT_MS), ROWS_PER_ROUND),
          );
          forgotten += count;
          if (count < ROWS_PER_ROUND) break;
        }
        return { forgotten };
      },
    },
  ];
}
