import type { TestApp } from "./app.ts";
import type { FakeHost } from "./hosts/fake-host.ts";
import { refreshOffersOf } from "./hosts/refresh-offers.ts";

/** Sets the price of storage on this host from now on, in dollars per GB and month of 720 hours. */
export async function chargeForStorage(world: TestApp, host: FakeHost, dollarsPerGbMonth: number): Promise<void> {
  await world.env.pool.query("update machines set price_disk_nanos_per_gb_month = $2 where id = $1", [
    host.machineId,
    BigInt(Math.round(dollarsPerGbMonth * 1e9)),
  ]);
  await refreshOffersOf(world, [host.machineId]);
}
