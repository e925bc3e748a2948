// Upgrades a database from the version that charged only running time, while instances run.
import assert from "node:assert/strict";
import { copyFile, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test, type TestContext } from "node:test";
import type pg from "pg";
import { grantOf } from "../../../../../test/support/money/ledger.ts";
import { ManualClock } from "../../../../../test/support/manual-clock.ts";
import { emptyTestDatabase, type TestDatabase } from "../../../../../test/support/database/postgres.ts";
import { asId, type InstanceId, type MachineId, type UserId } from "../../../base/ids.ts";
import { systemClock } from "../../../base/clock.ts";
import { migrate } from "../../../db/migrate.ts";
import { withTransaction } from "../../../db/transaction.ts";
import { touchMachines } from "../../supply/hosts/for-instances.ts";
import { openSpans } from "../../supply/hosts/presence/span-store.ts";
import { raiseCounters } from "../../rental/instances/counting/counting-service.ts";
import { postTransfers } from "../ledger/index.ts";
import { audit } from "../audit/audit-service.ts";
import { settleDue } from "./settlement/service.ts";
import { settleDueVolumes } from "./volumes/volume-settlement.ts";

const MIGRATIONS = path.join(import.meta.dirname, "../../../../migrations");
const DOLLAR = 1_000_000_000n;
const MINUTE_MS = 60_000;
const LEASE_MS = 10 * MINUTE_MS;

async function migrationsUpTo(t: TestContext, last: string): Promise<string> {
  const directory = await mkdtemp(path.join(tmpdir(), "berth-upgrade-"));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const files = (await readdir(MIGRATIONS)).filter((file) => file.endsWith(".sql") && file.slice(0, 4) <= last);
  for (const file of files) await copyFile(path.join(MIGRATIONS, file), path.join(directory, file));
  return directory;
}

/** A host with a machine, a renter, and two volumes: an empty one, and one that is being filled from it. */
const WORLD = `
  insert into users (email, username, created_at) values ('host@test', 'host', now()), ('renter@test', 'renter', now());
  insert into agent_credentials (user_id, name, token_sha256, created_at) values (1, 'm', '\\x00', now());
  insert into machines (host_id, agent_credential_id, host_key, boot_id, agent_version, engine_kind, engine_version, facts,
    resource_type, is_listed, price_device_nanos_per_hour, price_min_bid_nanos_per_hour, price_disk_nanos_per_gb_month,
    price_inet_up_nanos_per_gb, price_inet_down_nanos_per_gb, min_chunk, credit_discount_max_permille, offer_end_at,
    lease_until_at, last_seen_at, is_connected, connected_at, created_at)
  values (1, 1, 'key', 'boot', '1', 'simulated', '1', '{}', 'gpu', true, 1, 1, 1, 1, 1, 1, 0, now() + '1 year',
    now() + '5 minutes', now() - '4 minutes'::interval, false, now() - '1 day'::interval, now());
  insert into devices (machine_id, kind, uuid, position, facts)
  select 1, 'gpu', 'GPU-' || position, position, '{}' from generate_series(1, 3) as position;
  insert into offers (machine_id, device_count, created_at) values (1, 1, now());
  insert into volume_offers (machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
  values (1, 1, 1, now() + '1 year', now(), now());
  insert into volumes (user_id, machine_id, volume_offer_id, name, size_bytes, price_nanos_per_gb_month, end_at, created_at)
  select 2, 1, 1, name, 20000000000, 100000000, now() + '1 year', now() from unnest('{plain,clone}'::text[]) as name;
  insert into volume_clones (volume_id, source_id, task_id, expected_bytes, created_at, expires_at)
  values (2, 1, 'task', 0, now(), now() + '1 day');
`;

/**
 * Three instances at $0.36 an hour that had counted an hour each: one that runs, one that ended and is not charged to
 * its end after its bid was raised, and one that never ran. The last minute is not charged, five minutes before the
 * returned moment. One transaction, so that all of it has the same moment, however slow the machine is.
 */
async function plant({ pool }: TestDatabase): Promise<Date> {
  const client = await pool.connect();
  try {
    await client.query("begin");
    await plantRows(client);
    const { rows } = await client.query<{ at: Date }>("select now() as at");
    await client.query("commit");
    return rows[0]!.at;
  } finally {
    client.release();
  }
}

async function plantRows(client: pg.PoolClient): Promise<void> {
  await client.query(WORLD);
  const rows = [
    { phase: "running", run: "now() - '65 minutes'::interval", price: 360_000_000, lowest: null },
    { phase: "ended", run: "now() - '65 minutes'::interval", price: 720_000_000, lowest: 360_000_000 },
    { phase: "starting", run: null, price: 360_000_000, lowest: null },
  ];
  for (const [index, { phase, run, price, lowest }] of rows.entries()) {
    const id = index + 1;
    await client.query(
      `insert into instances (id, user_id, machine_id, offer_id, is_bid, price_nanos_per_hour, storage_nanos_per_gb_month,
         inet_up_nanos_per_gb, inet_down_nanos_per_gb, device_count, disk_bytes, launch, desired, phase, phase_cause,
         phase_since_at, generation, observed_generation, observed_state, created_at, end_at, ended_at)
       values ($1, 2, 1, 1, false, $3, 150000000, 2000000, 3000000, 1, 10000000000, '{}', 'running', $2, '', now(), 1, 1,
         'running', now() - '2 hours'::interval, now() + '1 year', case when $2 = 'ended' then now() end)`,
      [id, phase, price],
    );
    await client.query(
      `insert into instance_events (instance_id, at, actor, cause, from_phase, to_phase, generation)
       values ($1, now() - '65 minutes'::interval, 'host', 'container_running', 'starting', $2, 1)`,
      [id, phase],
    );
    await client.query(
      `insert into instance_runs (instance_id, generation, started_at, first_running_at, last_counted_at, running_ms,
         charged_running_ms, received_bytes, sent_bytes, lowest_price_nanos_per_hour)
       select $1, 1, now() - '66 minutes'::interval, ${run}, now() - '5 minutes'::interval, $2::bigint,
         greatest($2::bigint - 60000, 0), $2::bigint * 10, $2::bigint * 10, $3`,
      [id, run === null ? 0 : 3_600_000, lowest],
    );
    if (phase === "ended") continue;
    await client.query(
      `insert into leases (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at)
       values ($1, 1, $1, 1, false, $2, now())`,
      [id, price],
    );
  }
}

test("running time is charged from the end of its earlier charges, to the millisecond, and nothing else is charged", async (t) => {
  const db = await emptyTestDatabase(t);
  await migrate(db.connection, { directory: await migrationsUpTo(t, "0210"), clock: systemClock });
  const plantedAt = await plant(db);
  await migrate(db.connection, { directory: MIGRATIONS, clock: systemClock });
  const { rows: marks } = await db.pool.query<{ at: Date }>(
    "select metered_from_at as at from instance_tabs where instance_id = 1",
  );
  const clock = new ManualClock(marks[0]!.at.getTime());
  const { database } = db;
  const machineIds = [asId<MachineId>(1)];
  await withTransaction(database, clock, (tx) => postTransfers(tx, [grantOf(asId<UserId>(2), 100n * DOLLAR)]));
  // The agent returns within its heartbeat lease, and its containers run on: ten more minutes, five of them from
  // before.
  await withTransaction(database, clock, (tx) => openSpans(tx, machineIds, LEASE_MS));
  clock.jump(5 * MINUTE_MS);
  await withTransaction(database, clock, async (tx) => {
    await touchMachines(
      tx,
      machineIds.map((machineId) => ({ machineId, heardAt: tx.now })),
      clock.now(),
    );
    const counters = { running_ms: 70 * MINUTE_MS, received_bytes: 36_000_000, sent_bytes: 36_000_000 };
    const seen = { instance_id: asId<InstanceId>(1), generation: 1, state: "running", counters, usage: null } as const;
    await raiseCounters(tx, [{ machineId: machineIds[0]!, seen, gpuUse: undefined, at: tx.now }]);
  });
  await settleDue(database, clock);
  await settleDueVolumes(database, clock);
  const { rows } = await db.pool.query(
    `select instance_id as instance, volume_id as volume, component, unit_price_nanos as price,
       sum(quantity)::integer as ms, max(to_at) as until
     from charge_lines group by 1, 2, 3, 4 order by 1, 2, 3`,
  );
  // Storage is charged by the clock; counters continue from their values.
  const counted = (ms: number) => new Date(plantedAt.getTime() - 5 * MINUTE_MS + ms);
  const fiveMinutes = { ms: 5 * MINUTE_MS, until: clock.now() };
  assert.deepEqual(rows, [
    { instance: 1, volume: null, component: "disk", price: 150_000_000n, ...fiveMinutes },
    {
      instance: 1,
      volume: null,
      component: "gpu",
      price: 360_000_000n,
      ms: 11 * MINUTE_MS,
      until: counted(10 * MINUTE_MS),
    },
    { instance: 2, volume: null, component: "gpu", price: 360_000_000n, ms: MINUTE_MS, until: counted(0) },
    { instance: null, volume: 1, component: "disk", price: 100_000_000n, ...fiveMinutes },
  ]);
  const { checks } = await audit({ database, clock }, { isFull: true });
  assert.deepEqual(
    checks.flatMap(({ differences }) => differences),
    [],
  );
});
