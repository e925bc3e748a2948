import type pg from "pg";
import type { Database } from "../../server/src/db/connect.ts";

/** Tables that are copied with their rows and their indexes. */
const FILLED = ["instances", "instance_tabs", "instance_runs", "ledger_accounts"] as const;
/** Tables that are copied empty, which favours the control. */
const EMPTY = ["ledger_transfers", "ledger_holds", "charge_lines"] as const;

/** Tables like those of the service, for the control: what was set aside for the sample is there, too. */
export async function prepareSettleControl({ pool }: Database): Promise<void> {
  for (const name of [...FILLED, ...EMPTY]) {
    await pool.query(
      `create table bench_${name} (like ${name} including defaults including identity including indexes including storage)`,
    );
  }
  for (const name of FILLED)
    await pool.query(`insert into bench_${name} overriding system value select * from ${name}`);
  await pool.query(
    "insert into bench_ledger_holds overriding system value select * from ledger_holds where state = 'pending'",
  );
  await pool.query(
    "select setval(pg_get_serial_sequence('bench_ledger_holds', 'id'), (select max(id) from ledger_holds))",
  );
  for (const name of [...FILLED, "ledger_holds"]) await pool.query(`vacuum analyze bench_${name}`);
}

type Row = {
  readonly id: number;
  readonly hold_id: bigint;
  readonly payer: number;
  readonly earner: number;
  readonly user_id: number;
  readonly host_id: number;
  readonly machine_id: number;
};

/**
 * The control: what settling one instance writes where nothing can stay as it is (two charges, two transfers, the next hold), a
 * transaction for each instance, the locks in the same order. Runs for the first `count` of them, one after the other.
 */
export async function settleOneByOne({ pool }: Database, count: number): Promise<void> {
  const client = await pool.connect();
  try {
    const { rows } = await client.query<Row>(
      `select i.id, t.hold_id, i.user_id, m.host_id, i.machine_id, payer.id as payer, earner.id as earner
       from bench_instances i join bench_instance_tabs t on t.instance_id = i.id join machines m on m.id = i.machine_id
       join bench_ledger_accounts payer on payer.user_id = i.user_id and payer.kind = 'credit'
       join bench_ledger_accounts earner on earner.user_id = m.host_id and earner.kind = 'earnings'
       order by i.id limit $1`,
      [count],
    );
    for (const row of rows) await settleOne(client, row);
  } finally {
    client.release();
  }
}

const AMOUNT = 300_000_000n;

async function settleOne(client: pg.PoolClient, row: Row): Promise<void> {
  const query = (name: string, text: string, values: readonly unknown[]) =>
    client.query({ name: `settle_${name}`, text, values: [...values] });
  const now = new Date();
  await client.query("begin");
  await query("instance", "select * from bench_instances where id = $1 for update", [row.id]);
  await query("run", "select * from bench_instance_runs where instance_id = $1 for update", [row.id]);
  await query("accounts", "select * from bench_ledger_accounts where id in ($1, $2) order by id for update", [
    row.payer,
    row.earner,
  ]);
  await query("closed", "update bench_ledger_holds set state = 'released', closed_at = $2 where id = $1", [
    row.hold_id,
    now,
  ]);
  for (const component of ["gpu", "disk"]) {
    const transfer = await query(
      "transfer",
      `insert into bench_ledger_transfers
         (key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
       values ($1, $2, $3, $4, 'usage_gpu', $5, 'bench', $6) returning id`,
      [`${component}:${row.id}:1`, row.payer, row.earner, AMOUNT, { instance_id: row.id, quantity: "3600" }, now],
    );
    await query(
      "line",
      `insert into bench_charge_lines (transfer_id, payer_id, host_id, machine_id, instance_id, generation, component,
         state, cause, from_at, to_at, quantity, unit_price_nanos, amount_nanos, paid_from, charged_at)
       values ($1, $2, $3, $4, $5, 1, $6, 'running', 'bench', $7, $7, 0, $8, $8, 'credit', $7)`,
      [transfer.rows[0].id, row.user_id, row.host_id, row.machine_id, row.id, component, now, AMOUNT],
    );
    await query("pay", "update bench_ledger_accounts set balance_nanos = balance_nanos - $2 where id = $1", [
      row.payer,
      AMOUNT,
    ]);
    await query("earn", "update bench_ledger_accounts set balance_nanos = balance_nanos + $2 where id = $1", [
      row.earner,
      AMOUNT,
    ]);
  }
  const hold = await query(
    "hold",
    `insert into bench_ledger_holds (account_id, amount_nanos, cause, created_at) values ($1, $2, $3, $4) returning id`,
    [row.payer, AMOUNT, { instance_id: row.id }, now],
  );
  await query("held", "update bench_ledger_accounts set held_nanos = held_nanos + 1 where id = $1", [row.payer]);
  await query("charged", "update bench_instance_runs set charged_running_ms = running_ms where instance_id = $1", [
    row.id,
  ]);
  await query("settled", "update bench_instance_tabs set hold_id = $2, settle_at = $3 where instance_id = $1", [
    row.id,
    hold.rows[0].id,
    now,
  ]);
  await client.query("commit");
}
