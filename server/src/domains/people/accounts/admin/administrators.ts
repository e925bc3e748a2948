import type { Tx } from "../../../../db/transaction.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { listAdministratorIds } from "../users/store.ts";

/** What one administrator did, for all of them. */
export type AdministratorAct = {
  readonly subject: string;
  readonly message: string;
  /** Told once under it. */
  readonly key: string;
};

/** Tells all administrators what one of them did to an account, in the transaction of the deed. */
export async function tellAdministrators(tx: Tx, act: AdministratorAct): Promise<void> {
  const administrators = await listAdministratorIds(tx.db);
  await postNotifications(
    tx,
    administrators.map((userId) => ({ userId, kind: "client:administrator_acted", ...act })),
  );
}
