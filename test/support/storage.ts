import { withTransaction } from "../../server/src/db/transaction.ts";
import { lockMachines } from "../../server/src/domains/hosts/index.ts";
import { refreshOffers } from "../../server/src/domains/market/index.ts";
import type { TestApp } from "./app.ts";
import type { FakeHost } from "./fake-host.ts";

/** Has what is stored on this host from now on cost so many dollars per GB and month of 720 hours. */
export async function chargeForStorage(world: TestApp, host: FakeHost, dollarsPerGbMonth: number): Promise<void> {
  await world.env.pool.query("update machines set price_disk_nanos_per_gb_month = $2 where id = $1", [
    host.machineId,
    BigInt(Math.round(dollarsPerGbMonth * 1e9)),
  ]);
  await withTransaction(world.env.database, world.clock, async (tx) => {
    await lockMachines(tx, [host.machineId]);
    await refreshOffers(tx, [host.machineId]);
  });
}
