import type pg from "pg";
import type { Database } from "../../server/src/db/connect.ts";
import { asId, type UserId } from "../../server/src/base/ids.ts";
import { nanos } from "../../server/src/base/money.ts";
import { withTransaction } from "../../server/src/db/transaction.ts";
import { creditOf, ISSUANCE, postTransfer } from "../../server/src/domains/money/ledger/index.ts";
import { findLinkHash, findNextLink } from "../../server/src/db/fact-store.ts";
import {
  insertCheckpoint,
  type Checkpoint,
} from "../../server/src/domains/money/audit/checkpoints/checkpoint-store.ts";
import { ManualClock } from "../../test/support/manual-clock.ts";
import { seedInstances } from "./seed-instances.ts";
import { seedMachines } from "./seed.ts";

export type LedgerSize = {
  readonly machines: number;
  readonly gpusPerMachine: number;
  readonly renters: number;
  /** Charged hours: each instance has two charge lines and two transfers for each of them. */
  readonly hours: number;
  readonly endAt: Date;
};

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const HOURS_PER_STATEMENT = 500;
const CREDIT_NANOS = 1_000_000_000_000_000n;

/**
 * A market that has been running all the time for so many hours, and was settled each hour: what it would have in its
 * tables, straight into them. What is added up by loops is not there yet.
 */
export async function seedLedger(
  database: Database,
  { machines, gpusPerMachine, renters, hours, endAt }: LedgerSize,
): Promise<{ readonly renterIds: readonly number[]; readonly hostIds: readonly number[] }> {
  const { pool } = database;
  const startAt = new Date(endAt.getTime() - hours * HOUR_MS);
  const { rows } = await pool.query<{ id: number }>(
    `insert into users (email, username, created_at)
     select 'renter-' || n || '@bench.example', 'renter-' || n, $2 from generate_series(1, $1::integer) as n returning id`,
    [renters, startAt],
  );
  const renterIds = rows.map(({ id }) => id);
  const machineIds = await seedMachines(database, { hosts: machines, gpusPerHost: gpusPerMachine });
  await seedInstances(database, { machineIds, renterIds, startAt });
  await pool.query("select ledger_make_accounts('{0}', '{issuance}')");
  await pool.query("select ledger_make_accounts($1, array_fill('credit'::text, array[cardinality($1::integer[])]))", [
    renterIds,
  ]);
  const hosts = await pool.query<{ id: number }>("select distinct host_id as id from machines order by 1");
  const hostIds = hosts.rows.map(({ id }) => id);
  await pool.query("select ledger_make_accounts($1, array_fill('earnings'::text, array[cardinality($1::integer[])]))", [
    hostIds,
  ]);
  await grant(database, renterIds, startAt);
  await prepareContracts(pool);
  const indexes = await dropIndexes(pool);
  for (let first = 0; first < hours; first += HOURS_PER_STATEMENT) {
    const last = Math.min(hours, first + HOURS_PER_STATEMENT) - 1;
    for (const statement of [TRANSFERS, LINES]) await pool.query(statement, [first, last, startAt]);
  }
  for (const definition of indexes) await pool.query(definition);
  await concludeFacts(pool, endAt);
  await pool.query("vacuum (analyze)");
  return { renterIds, hostIds };
}

/** Grants credit by the ledger itself, since each grant needs its fact. */
async function grant(database: Database, renterIds: readonly number[], startAt: Date): Promise<void> {
  await withTransaction(database, new ManualClock(startAt.getTime()), async (tx) => {
    for (const id of renterIds) {
      await postTransfer(tx, {
        key: `bench:${id}`,
        debit: ISSUANCE,
        credit: creditOf(asId<UserId>(id)),
        amount: nanos(CREDIT_NANOS),
        code: "credit_granted",
        cause: {},
        description: "credit for a benchmark",
      });
    }
  });
}

/** Payer, receiver and hourly amount of each contract, by place. */
async function prepareContracts(pool: pg.Pool): Promise<void> {
  await pool.query(`
    create table bench_contracts as
    select (row_number() over (order by i.id) - 1)::integer as place, count(*) over ()::integer as total,
      (select max(id) from ledger_transfers) as id_before, i.id, i.user_id, i.machine_id, m.host_id,
      payer.id as payer, earner.id as earner, i.disk_bytes, c.place as part, c.component,
      case c.component when 'gpu' then i.price_nanos_per_hour else i.storage_nanos_per_gb_month end as price,
      case c.component when 'gpu' then i.price_nanos_per_hour
        else div(i.storage_nanos_per_gb_month::numeric * 3600000 * i.disk_bytes, 2592000000::numeric * 1000000000)::bigint
      end as amount
    from instances i join machines m on m.id = i.machine_id
    join ledger_accounts payer on payer.user_id = i.user_id and payer.kind = 'credit'
    join ledger_accounts earner on earner.user_id = m.host_id and earner.kind = 'earnings'
    cross join (values (0, 'gpu'), (1, 'disk')) as c (place, component)`);
}

const ROWS = `
  from generate_series($1::integer, $2::integer) as h
  cross join bench_contracts c
  cross join lateral (
    select h::bigint * c.total + c.place + 1 as id, $3::timestamptz + h * interval '1 hour' as from_at,
      $3::timestamptz + (h + 1) * interval '1 hour' as to_at
  ) as l
  order by 1`;

const TRANSFERS = `
  insert into ledger_transfers (id, key, debit_account_id, credit_account_id, amount_nanos, code, cause, description, created_at)
  select c.id_before + l.id,
    case c.component when 'gpu' then 'run:' || c.id || ':1:' || h * 3600000::bigint || '-' || (h + 1) * 3600000::bigint
      else 'disk:' || c.id || ':' || (extract(epoch from l.from_at) * 1000)::bigint || '-' || (extract(epoch from l.to_at) * 1000)::bigint
    end,
    c.payer, c.earner, c.amount, case c.component when 'gpu' then 'usage_gpu' else 'usage_storage' end,
    jsonb_build_object('instance_id', c.id, 'machine_id', c.machine_id, 'quantity', '3600'),
    'Instance ' || c.id || case c.component when 'gpu' then ' running' else ' storage' end, l.to_at
  ${ROWS}`;

const LINES = `
  insert into charge_lines (id, transfer_id, payer_id, host_id, machine_id, instance_id, generation, component, state, cause,
    from_at, to_at, quantity, size_bytes, unit_price_nanos, amount_nanos, paid_from, charged_at)
  overriding system value
  select l.id, c.id_before + l.id, c.user_id, c.host_id, c.machine_id, c.id, case c.component when 'gpu' then 1 end,
    c.component, 'running', 'container_running', l.from_at, l.to_at, 3600000,
    case c.component when 'disk' then c.disk_bytes end, c.price, c.amount, 'credit', l.to_at
  ${ROWS}`;

/** Drops the indexes: creating them afterwards is quicker than keeping them. Returns the statements for that. */
async function dropIndexes(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string; definition: string }>(
    `select indexname as name, indexdef as definition from pg_indexes
     where tablename in ('ledger_transfers', 'charge_lines') and indexname not like '%_pkey'`,
  );
  for (const { name } of rows) await pool.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}

/** Writes balances, counters and clocks as all these charges left them. */
async function concludeFacts(pool: pg.Pool, endAt: Date): Promise<void> {
  await pool.query(`
    update ledger_accounts a set balance_nanos = s.amount from (
      select account_id, sum(amount) as amount from (
        select credit_account_id as account_id, amount_nanos as amount from ledger_transfers
        union all select debit_account_id, -amount_nanos from ledger_transfers
      ) as side group by account_id
    ) s where a.id = s.account_id`);
  for (const table of ["ledger_transfers", "charge_lines"]) {
    await pool.query(`select setval(pg_get_serial_sequence('${table}', 'id'), (select max(id) from ${table}))`);
  }
  await pool.query(
    `update instance_runs set running_ms = ms, heard_running_ms = ms, charged_running_ms = ms, last_counted_at = $1
     from (select (extract(epoch from $1::timestamptz - min(metered_from_at)) * 1000)::bigint as ms from instance_runs) as ran`,
    [endAt],
  );
  await pool.query(
    `with tabs as (
       update instance_tabs set storage_charged_until_at = $1, settle_at = $1::timestamptz + interval '1 hour'
     )
     update instances set observed_at = $1`,
    [endAt],
  );
  await pool.query("update machines set last_seen_at = $1, lease_until_at = $1::timestamptz + interval '1 hour'", [
    endAt,
  ]);
}

type ReadUpTo = Pick<Checkpoint, "nextTransferId" | "nextLineId" | "transferCount" | "lineCount">;

/**
 * Stores the checkpoint that an audit of everything before this day (UTC) would have left, without the audit, which
 * takes minutes for each million charge lines: the moment up to which each contract is charged, and the sums of
 * transfers. The checksums, which an ordinary audit does not read, are left out. Only for instances that have one run
 * and were charged for every hour.
 */
export async function checkpointUnread(
  database: Database,
  now: Date,
): Promise<{ readonly isStored: boolean; readonly checks: readonly never[] }> {
  const { pool } = database;
  const untilAt = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS);
  const { rows } = await pool.query<ReadUpTo>(
    `select (select id from ledger_transfers where created_at >= $1 order by id limit 1) as "nextTransferId",
       (select id from charge_lines where charged_at >= $1 order by id limit 1) as "nextLineId",
       (select count(*) from ledger_transfers where created_at < $1) as "transferCount",
       (select count(*) from charge_lines where charged_at < $1) as "lineCount"`,
    [untilAt],
  );
  const [readUpTo] = rows;
  if (readUpTo === undefined) throw new Error("there is nothing for a checkpoint");
  const nextFactLink = await findNextLink(database.kysely, untilAt, 1n);
  const factsSha256 = (await findLinkHash(database.kysely, nextFactLink - 1n)) ?? "";
  const unread = { transfersSha256: "0".repeat(64), linesSha256: "0".repeat(64) };
  const checkpoint = { untilAt, ...readUpTo, ...unread, nextFactLink, factsSha256, nextEventId: 1n };
  await withTransaction(database, new ManualClock(now.getTime()), (tx) => insertCheckpoint(tx, checkpoint));
  await pool.query(
    `insert into audit_sums (account_id, posted_nanos)
     select account_id, sum(amount) from (
       select credit_account_id as account_id, amount_nanos as amount from ledger_transfers where created_at < $1
       union all select debit_account_id, -amount_nanos from ledger_transfers where created_at < $1
     ) as side group by account_id`,
    [untilAt],
  );
  await pool.query(
    `insert into audit_marks (contract, contract_id, generation, component, position, reached_at)
     select 'instance', instance_id, coalesce(max(generation), 0), component,
       case component when 'gpu' then sum(quantity) else (extract(epoch from max(to_at)) * 1000)::bigint end, max(to_at)
     from charge_lines where charged_at < $1 group by instance_id, component`,
    [untilAt],
  );
  return { isStored: true, checks: [] };
}
