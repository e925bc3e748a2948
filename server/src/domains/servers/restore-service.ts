import type { Tx } from "../../db/transaction.ts";
import { skipIds, storeRestore } from "./restore-store.ts";

/** More ids than a market gives out between two backups. */
const SKIPPED_IDS = 1_000_000;

/**
 * Notes that the database was set back to an earlier state, before a server serves it. Ids go on far beyond those that
 * were given out after that state, and hosts keep what they have under them for a while. `lastInstanceId` is that of the
 * newest row: the sequence of a recovered database is ahead of it.
 */
export async function noteRestore(
  tx: Tx,
  { backupAt, lastInstanceId }: { readonly backupAt: Date | undefined; readonly lastInstanceId: number },
): Promise<void> {
  const until = await skipIds(tx, SKIPPED_IDS);
  await storeRestore(tx, { backupAt, instances: { after: lastInstanceId, until } });
}
