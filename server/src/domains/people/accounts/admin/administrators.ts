import type { Tx } from "../../../../db/transaction.ts";
import { postNotifications } from "../../../notifications/index.ts";
import { listAdministratorIds } from "../users/store.ts";

/** An act of one administrator, as all administrators are told of it. */
export type AdministratorAct = {
  readonly subject: string;
  readonly message: string;
  /** The same key is told once. */
  readonly key: string;
};

/** Tells all administrators of one administrator's act on an account, in the transaction of the act. */
export async function tellAdministrators(tx: Tx, act: AdministratorAct): Promise<void> {
  const administrators = await listAdministratorIds(tx.db);
  await postNotifications(
    tx,
    administrators.map((userId) => ({ userId, kind: "client:administrator_acted", ...act })),
  );
}
