import { withTransaction } from "../../../server/src/db/transaction.ts";
import { lockMachines } from "../../../server/src/domains/supply/hosts/index.ts";
import { refreshOffers } from "../../../server/src/domains/supply/market/index.ts";
import type { TestApp } from "../app.ts";
import type { FakeHost } from "../hosts/fake-host.ts";
import type { TestCaller } from "../fixtures.ts";
import type { TestAnswer } from "../network/http.ts";

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

export type Terms = { readonly dollarsPerHour?: number; readonly days?: number; readonly discountMax?: number };

/** A connected host whose devices are listed one by one at this price for this many days. Its storage is free. */
export async function listedHost(
  world: TestApp,
  { dollarsPerHour = 1, days = 365, discountMax = 0.4 }: Terms = {},
  options: Parameters<TestApp["host"]>[0] = {},
): Promise<FakeHost> {
  const host = await world.host(options);
  const price = BigInt(Math.round(dollarsPerHour * 1e9));
  const endAt = new Date(world.clock.now().getTime() + days * DAY_MS);
  await world.env.pool.query(
    `update machines set price_device_nanos_per_hour = $2, price_min_bid_nanos_per_hour = $3, min_chunk = 1,
       price_disk_nanos_per_gb_month = 0, credit_discount_max_permille = $4, offer_end_at = $5
     where id = $1`,
    [host.machineId, price, price / 10n, Math.round(discountMax * 1000), endAt],
  );
  await withTransaction(world.env.database, world.clock, async (tx) => {
    await lockMachines(tx, [host.machineId]);
    await refreshOffers(tx, [host.machineId]);
  });
  return host;
}

export function prepay(world: TestApp, user: TestCaller, id: number, amount: unknown): Promise<TestAnswer> {
  return world.call({
    method: "PUT",
    url: `/api/v0/instances/prepay/${id}/`,
    secret: user.secret,
    body: { amount },
  });
}

export function depositBalance(world: TestApp, user: TestCaller, id: number): Promise<TestAnswer> {
  return world.call({ url: `/api/v0/instances/balance/${id}/`, secret: user.secret });
}

/** Lets time pass, and the host report it. */
export async function pass(world: TestApp, host: FakeHost, ms: number): Promise<void> {
  world.clock.jump(ms);
  await host.count();
}
