import { randomBytes } from "node:crypto";
import type { TestContext } from "node:test";
import pg from "pg";
import { MARKET_CHANNEL } from "../../../server/src/domains/supply/hosts/for-assembly.ts";
import type { TestDatabase } from "../database/postgres.ts";

const BARRIER_CHANNEL = "test_market_barrier";

/**
 * Follows the announcements of a test's database; the returned function lists, in order, the machines whose offers may
 * have changed since this call.
 */
export async function followMarketNews(
  t: Pick<TestContext, "after">,
  { connection, pool }: TestDatabase,
): Promise<() => Promise<readonly number[]>> {
  const client = new pg.Client(connection);
  // The database of the test goes first, and takes the connection along.
  client.on("error", () => {});
  t.after(() => client.end());
  await client.connect();
  const told: number[] = [];
  const barriers = new Map<string, () => void>();
  client.on("notification", ({ channel, payload = "" }) => {
    if (channel === MARKET_CHANNEL) told.push(...payload.split(",").map(Number));
    else barriers.get(payload)?.();
  });
  for (const channel of [MARKET_CHANNEL, BARRIER_CHANNEL]) await client.query(`listen ${channel}`);
  return async () => {
    const name = randomBytes(8).toString("hex");
    const arrived = new Promise<void>((resolve) => barriers.set(name, resolve));
    // Notifications arrive in the order of their commits.
    await pool.query("select pg_notify($1, $2)", [BARRIER_CHANNEL, name]);
    await arrived;
    return told;
  };
}
