import { randomUUID } from "node:crypto";
import type pg from "pg";
import type { Database } from "../../server/src/db/connect.ts";

/**
 * The control of the rent benchmark: what a rent must write at the very least, one transaction of eight statements at a
 * time through the driver, on tables of the same shape in the same database. No rules, no HTTP.
 */
export async function prepareRentControl({ pool }: Database): Promise<void> {
  const like = (name: string) =>
    `create table bench_${name} (like ${name} including defaults including identity including indexes)`;
  for (const name of [
    "idempotency_keys",
    "leases",
    "ledger_holds",
    "ledger_accounts",
    "instances",
    "instance_events",
  ]) {
    await pool.query(like(name));
  }
  await pool.query(`insert into bench_ledger_accounts (user_id, kind, balance_nanos)
    select n, 'credit', 1000000000000000 from generate_series(1, 1000) as n`);
}

let deviceCount = 0;

/** Transactions per second of so many connections, each doing one after the other. */
export async function runRentControl(
  { pool }: Database,
  { connections, forMs }: { readonly connections: number; readonly forMs: number },
): Promise<number> {
  const startMs = performance.now();
  let count = 0;
  const drive = async () => {
    const client = await pool.connect();
    try {
      while (performance.now() - startMs < forMs) {
        deviceCount += 1;
        await rentOnce(client, deviceCount);
        count += 1;
      }
    } finally {
      client.release();
    }
  };
  await Promise.all(Array.from({ length: connections }, drive));
  return (count * 1000) / (performance.now() - startMs);
}

const SHA256 = Buffer.alloc(32);
const ANSWER = Buffer.alloc(160);

async function rentOnce(client: pg.PoolClient, device: number): Promise<void> {
  const now = new Date();
  const key = randomUUID();
  const user = 1 + (device % 1000);
  const query = (name: string, text: string, values: readonly unknown[]) =>
    client.query({ name: `bench_${name}`, text, values: [...values] });
  await client.query("begin");
  await query(
    "key",
    "insert into bench_idempotency_keys (api_key_id, key, request_sha256, created_at) values ($1, $2, $3, $4)",
    [user, key, SHA256, now],
  );
  await query("account", "select id, balance_nanos, held_nanos from bench_ledger_accounts where id = $1 for update", [
    user,
  ]);
  await query(
    "hold",
    `insert into bench_ledger_holds (account_id, amount_nanos, state, cause, created_at)
     values ($1, 1000, 'pending', '{}', $2)`,
    [user, now],
  );
  await query("held", "update bench_ledger_accounts set held_nanos = held_nanos + 1000 where id = $1", [user]);
  const { rows } = await query(
    "instance",
    `insert into bench_instances (user_id, machine_id, offer_id, is_bid, price_nanos_per_hour,
       storage_nanos_per_gb_month, inet_up_nanos_per_gb, inet_down_nanos_per_gb, device_count, disk_bytes, launch,
       desired, phase, phase_cause, phase_since_at, generation, created_at, end_at)
     values ($1, $2, $2, false, 1, 1, 1, 1, 1, 1, '{}', 'running', 'starting', 'created', $3, 1, $3, $3) returning id`,
    [user, device, now],
  );
  await query(
    "lease",
    `insert into bench_leases (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour,
       granted_at) values ($1, $1, $2, 1, false, 1, $3)`,
    [device, rows[0].id, now],
  );
  await query(
    "event",
    `insert into bench_instance_events (instance_id, at, actor, cause, to_phase, generation)
     values ($1, $2, 'user', 'created', 'starting', 1)`,
    [rows[0].id, now],
  );
  await query("answer", "update bench_idempotency_keys set response = $3 where api_key_id = $1 and key = $2", [
    user,
    key,
    ANSWER,
  ]);
  await client.query("commit");
}
