import { nanos } from "../../server/src/base/money.ts";
import type { UserId } from "../../server/src/base/ids.ts";
import type { Database } from "../../server/src/db/connect.ts";
import { holdAmount } from "../../server/src/domains/rental/instances/rules/pricing.ts";
import { auditLedger } from "../../server/src/domains/money/ledger/index.ts";

/** One order that was acknowledged, as its sender saw it. */
export type Rented = {
  readonly userId: UserId;
  readonly offerId: number;
  readonly instanceId: number;
  readonly request: string;
  readonly answer: string;
};

type InstanceRow = {
  readonly id: number;
  readonly user_id: number;
  readonly offer_id: number;
  readonly phase: string;
  readonly generation: number;
  readonly device_count: number;
  readonly price_nanos_per_hour: bigint;
  readonly storage_nanos_per_gb_month: bigint;
  readonly disk_bytes: bigint;
  readonly lease_count: number;
  readonly hold_nanos: bigint | null;
  readonly event_count: number;
  readonly run_count: number;
  readonly key_count: number;
};

/** Compares what was acknowledged with what is stored, and the stored things with each other. Empty when all is well. */
export async function auditRents(database: Database, rented: readonly Rented[]): Promise<readonly string[]> {
  const problems: string[] = [];
  const expect = (name: string, found: string | number, expected: bigint | number) => {
    if (BigInt(found) !== BigInt(expected)) problems.push(`${name}: ${found} instead of ${expected}`);
  };
  const instances = await readInstances(database);
  expect("instances", instances.length, rented.length);
  const byId = new Map(instances.map((row) => [row.id, row]));
  const wrong = rented.filter((each) => !isAsAnswered(each, byId.get(each.instanceId)));
  expect("answers whose instance is not as promised", wrong.length, 0);
  expect("offers that were rented", new Set(rented.map(({ offerId }) => offerId)).size, rented.length);

  const counts = await readCounts(database);
  expect("devices with two live leases", counts.double_leases, 0);
  expect("leases of a device of another machine", counts.foreign_leases, 0);
  expect("live leases", counts.live_leases, sum(instances.map(({ device_count: count }) => BigInt(count))));
  expect("rented offers that are still for sale", counts.unretired_offers, 0);
  expect("machines offering other sizes than they have", counts.wrong_offers, 0);

  const expectedHolds = sum(instances.map(expectedHold));
  expect("money held on accounts", counts.held_nanos, expectedHolds);
  expect("money in pending holds", counts.pending_nanos, expectedHolds);
  const ledger = await auditLedger(database.kysely);
  for (const { kind } of ledger.differences) problems.push(`ledger: ${kind}`);
  return problems;
}

function isAsAnswered(answered: Rented, row: InstanceRow | undefined): boolean {
  return (
    row !== undefined &&
    row.user_id === answered.userId &&
    row.offer_id === answered.offerId &&
    row.phase === "starting" &&
    row.generation === 1 &&
    row.lease_count === row.device_count &&
    row.hold_nanos === expectedHold(row) &&
    row.event_count === 1 &&
    row.run_count === 1 &&
    row.key_count === 1
  );
}

function expectedHold(row: InstanceRow): bigint {
  return holdAmount({
    priceNanosPerHour: nanos(row.price_nanos_per_hour),
    storageNanosPerGbMonth: nanos(row.storage_nanos_per_gb_month),
    diskBytes: row.disk_bytes,
  });
}

async function readInstances({ pool }: Database): Promise<readonly InstanceRow[]> {
  const { rows } = await pool.query<InstanceRow>(`
    select i.id, i.user_id, i.offer_id, i.phase, i.generation, i.device_count, i.price_nanos_per_hour,
      i.storage_nanos_per_gb_month, i.disk_bytes, h.amount_nanos as hold_nanos,
      coalesce(l.n, 0) as lease_count, coalesce(e.n, 0) as event_count, coalesce(r.n, 0) as run_count,
      coalesce(k.n, 0) as key_count
    from instances i
    left join instance_tabs t on t.instance_id = i.id
    left join ledger_holds h on h.id = t.hold_id and h.state = 'pending' and (h.cause ->> 'instance_id')::integer = i.id
    left join (
      select instance_id, machine_id, generation, count(*)::integer as n from leases where released_at is null
      group by instance_id, machine_id, generation
    ) l on l.instance_id = i.id and l.machine_id = i.machine_id and l.generation = i.generation
    left join (select instance_id, count(*)::integer as n from instance_events group by instance_id) e
      on e.instance_id = i.id
    left join (select instance_id, count(*)::integer as n from instance_runs group by instance_id) r
      on r.instance_id = i.id
    left join (
      select instance_id, count(*)::integer as n from api_keys where deleted_at is null group by instance_id
    ) k on k.instance_id = i.id`);
  return rows;
}

type Counts = Readonly<
  Record<
    | "double_leases"
    | "foreign_leases"
    | "live_leases"
    | "unretired_offers"
    | "wrong_offers"
    | "held_nanos"
    | "pending_nanos",
    string
  >
>;

async function readCounts({ pool }: Database): Promise<Counts> {
  const { rows } = await pool.query<Counts>(`
    with live as (select * from leases where released_at is null),
    free as (
      select m.id, m.min_chunk, (
        select count(*) from devices d where d.machine_id = m.id and d.is_present and d.is_healthy
          and not exists (select from live where live.device_id = d.id)
      ) as n
      from machines m
    )
    select
      (select count(*) from (select from live group by device_id having count(*) > 1) x)::text as double_leases,
      (select count(*) from live join devices d on d.id = live.device_id where d.machine_id <> live.machine_id)::text
        as foreign_leases,
      (select count(*) from live)::text as live_leases,
      (select count(*) from offers o join instances i on i.offer_id = o.id where o.retired_at is null)::text
        as unretired_offers,
      (
        select count(*) from free where free.n >= free.min_chunk and not exists (
          select from offers o where o.machine_id = free.id and o.retired_at is null and o.device_count = free.n
        ) or exists (
          select from offers o where o.machine_id = free.id and o.retired_at is null and o.device_count > free.n
        )
      )::text as wrong_offers,
      (select coalesce(sum(held_nanos), 0) from ledger_accounts)::text as held_nanos,
      (select coalesce(sum(amount_nanos), 0) from ledger_holds where state = 'pending')::text as pending_nanos`);
  const [row] = rows;
  if (row === undefined) throw new Error("counting answers one row");
  return row;
}

function sum(values: readonly bigint[]): bigint {
  return values.reduce((total, value) => total + value, 0n);
}
