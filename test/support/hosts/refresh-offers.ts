import type { MachineId } from "../../../server/src/base/ids.ts";
import { withTransaction } from "../../../server/src/db/transaction.ts";
import { lockMachines } from "../../../server/src/domains/supply/hosts/index.ts";
import { refreshOffers } from "../../../server/src/domains/supply/market/index.ts";
import type { TestApp } from "../app.ts";

/**
 * Brings the offers of these machines up to date with their rows, for tests that write terms into the rows themselves.
 */
export async function refreshOffersOf(
  { env, clock }: Pick<TestApp, "env" | "clock">,
  machineIds: readonly MachineId[],
): Promise<void> {
  await withTransaction(env.database, clock, async (tx) => {
    await lockMachines(tx, machineIds);
    await refreshOffers(tx, machineIds);
  });
}
