// Charge lines as the audit reads them.
import { sql, type Selectable } from "kysely";
import type { InstanceId, MachineId, UserId, VolumeId } from "../../../../base/ids.ts";
import type { ChargeLinesTable } from "../../../../db/tables.ts";
import type { Reader } from "../../../../db/transaction.ts";

/** Charge lines charged at `from` or later and before `to`; none of them has an id below `nextId`. */
export type LineRange = { readonly nextId: bigint; readonly from: Date | undefined; readonly to: Date | undefined };

/** A charge line as stored; the audit trusts none of its fields. */
export type AuditedLine = {
  readonly id: bigint;
  readonly transferId: bigint | undefined;
  readonly payerId: UserId;
  readonly hostId: UserId;
  readonly machineId: MachineId | undefined;
  readonly instanceId: InstanceId | undefined;
  readonly volumeId: VolumeId | undefined;
  readonly generation: number | undefined;
  readonly component: "gpu" | "disk" | "bwu" | "bwd";
  readonly state: "running" | "loading" | "stopped" | "stored";
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly quantity: bigint;
  readonly sizeBytes: bigint | undefined;
  readonly unitPriceNanos: bigint;
  readonly discountPpm: number;
  readonly amountNanos: bigint;
  readonly unpaidNanos: bigint;
  readonly paidFrom: "credit" | "deposit";
  readonly chargedAt: Date;
};

/** The condition of a `where` clause for charge lines `l` within the range. */
function within({ nextId, from, to }: LineRange) {
  return sql<boolean>`l.id >= ${nextId}::bigint
    and l.charged_at >= coalesce(${from ?? null}::timestamptz, '-infinity')
    and l.charged_at < coalesce(${to ?? null}::timestamptz, 'infinity')`;
}

/** The instances and volumes that charge lines of the range belong to, in the order of their ids. */
export async function listChargedContracts(
  db: Reader,
  range: LineRange,
): Promise<{ readonly instanceIds: readonly InstanceId[]; readonly volumeIds: readonly VolumeId[] }> {
  const { rows } = await sql<{ instance_id: InstanceId | null; volume_id: VolumeId | null }>`
    select l.instance_id, l.volume_id from charge_lines l where ${within(range)} group by 1, 2 order by 1, 2
  `.execute(db);
  return {
    instanceIds: rows.flatMap((row) => row.instance_id ?? []),
    volumeIds: rows.flatMap((row) => row.volume_id ?? []),
  };
}

/** The charge line after which a page begins. */
export type AuditPlace = { readonly contractId: number; readonly lineId: bigint };

/** A page of the charge lines of these instances or volumes, one after the other, each in the order of writing. */
export async function listAuditedLines(
  db: Reader,
  {
    contract,
    ids,
    range,
    after,
    limit,
  }: {
    readonly contract: "instance" | "volume";
    readonly ids: readonly number[];
    readonly range: LineRange;
    readonly after: AuditPlace;
    readonly limit: number;
  },
): Promise<readonly AuditedLine[]> {
  const contractId = sql.ref(`l.${contract}_id`);
  const { rows } = await sql<Selectable<ChargeLinesTable>>`
    select l.* from charge_lines l
    where ${contractId} = any (${ids}::integer[])
      and (${contractId}, l.id) > (${after.contractId}::integer, ${after.lineId}::bigint) and ${within(range)}
    order by ${contractId}, l.id
    limit ${limit}::integer
  `.execute(db);
  return rows.map(toLine);
}

/** A run of 4096 ids: how many are used, and a fingerprint by which two lists are compared without reading them. */
export type PaidBucket = { readonly bucket: bigint; readonly count: number; readonly fingerprint: string };

/** Buckets of the transfers that paid charge lines of the range. */
export async function listPaidBuckets(db: Reader, range: LineRange): Promise<readonly PaidBucket[]> {
  const { rows } = await sql<PaidBucket>`
    select l.transfer_id >> 12 as bucket, count(*)::integer as count,
      sum(hashint8extended(l.transfer_id, 0)::numeric)::text as fingerprint
    from charge_lines l
    where l.transfer_id is not null and ${within(range)}
    group by 1
    order by 1
  `.execute(db);
  return rows;
}

/** The transfers of one bucket that charge lines name, repeated as often as they are named. */
export async function listPaidIds(db: Reader, range: LineRange, bucket: bigint): Promise<readonly bigint[]> {
  const { rows } = await sql<{ transfer_id: bigint }>`
    select l.transfer_id from charge_lines l
    where l.transfer_id >> 12 = ${bucket}::bigint and ${within(range)}
    order by l.transfer_id
  `.execute(db);
  return rows.map((row) => row.transfer_id);
}

/**
 * SQL: the price of a charge line from its own fields, in the exact arithmetic of the database: quantity × price × (1 −
 * discount), for disks also × size, rounded down once.
 */
const COST = sql`div(
  l.unit_price_nanos::numeric * (1000000 - l.discount_ppm) * l.quantity * coalesce(l.size_bytes, 1),
  case l.component
    when 'gpu' then 3600000::numeric * 1000000
    when 'disk' then 2592000000::numeric * 1000000000 * 1000000
    else 1000000000::numeric * 1000000
  end
)`;

export type MispricedLine = Pick<AuditedLine, "id" | "amountNanos" | "unpaidNanos"> & { readonly costNanos: bigint };

/** Charge lines whose amounts differ from their own fields, and the number of lines examined. */
export async function listMispricedLines(
  db: Reader,
  range: LineRange,
): Promise<{ readonly examined: number; readonly mispriced: readonly MispricedLine[] }> {
  const { rows } = await sql<{ id: bigint; amount: bigint; unpaid: bigint; cost: string }>`
    select l.id, l.amount_nanos as amount, l.unpaid_nanos as unpaid, ${COST}::text as cost
    from charge_lines l
    where ${within(range)} and l.amount_nanos + l.unpaid_nanos <> ${COST}
    order by l.id
  `.execute(db);
  const counted = await sql<{ count: bigint }>`select count(*) from charge_lines l where ${within(range)}`.execute(db);
  return {
    examined: Number(counted.rows[0]?.count ?? 0n),
    mispriced: rows.map((row) => ({
      id: row.id,
      amountNanos: row.amount,
      unpaidNanos: row.unpaid,
      costNanos: BigInt(row.cost),
    })),
  };
}

/** A run of 4096 ids, with the checksum of all fields of their rows. */
export type LineChecksum = { readonly bucket: bigint; readonly count: number; readonly sha256: string };

export async function listLineChecksums(db: Reader, range: LineRange): Promise<readonly LineChecksum[]> {
  const { rows } = await sql<LineChecksum>`
    select bucket, count(*)::integer as count,
      encode(sha256(convert_to(string_agg(said, E'\n' order by id), 'UTF8')), 'hex') as sha256
    from (
      select l.id, l.id >> 12 as bucket, json_build_array(
        l.id, l.transfer_id, l.payer_id, l.host_id, l.machine_id, l.instance_id, l.volume_id, l.generation, l.component,
        l.state, l.cause, extract(epoch from l.from_at), extract(epoch from l.to_at), l.quantity, l.size_bytes,
        l.unit_price_nanos, l.discount_ppm, l.amount_nanos, l.unpaid_nanos, l.paid_from,
        extract(epoch from l.charged_at)
      )::text as said
      from charge_lines l
      where ${within(range)}
    ) rows
    group by bucket
    order by bucket
  `.execute(db);
  return rows;
}

/** The lowest id of a charge line from `from` on; one above the highest id when there is none. */
export async function findNextLineId(db: Reader, from: Date, atLeast: bigint): Promise<bigint> {
  const { rows } = await sql<{ id: bigint }>`
    select coalesce(
      (
        select l.id from charge_lines l
        where l.id >= ${atLeast}::bigint and l.charged_at >= ${from}::timestamptz order by l.id limit 1
      ),
      (select max(l.id) + 1 from charge_lines l),
      1
    )::bigint as id
  `.execute(db);
  return rows[0]?.id ?? 1n;
}

/**
 * Amounts that deposits paid, and the discounts on lines that cost them nothing; transfers state the other discounts.
 */
export type DepositUsage = { readonly paidNanos: bigint; readonly freeSavedNanos: bigint };

/** The charges to deposits within the range, by instance. */
export async function sumPaidFromDeposits(
  db: Reader,
  range: LineRange,
): Promise<ReadonlyMap<InstanceId, DepositUsage>> {
  const { rows } = await sql<{ instance_id: InstanceId; paid: string; saved: string }>`
    select l.instance_id, sum(l.amount_nanos)::text as paid,
      coalesce(sum(div(l.unit_price_nanos::numeric * l.quantity, 3600000)) filter (where l.amount_nanos = 0), 0)::text
        as saved
    from charge_lines l
    where l.paid_from = 'deposit' and l.instance_id is not null and ${within(range)}
    group by l.instance_id
  `.execute(db);
  return new Map(
    rows.map((row) => [row.instance_id, { paidNanos: BigInt(row.paid), freeSavedNanos: BigInt(row.saved) }]),
  );
}

/** The charges for traffic of each of these instances; those without any are left out. */
export async function sumTrafficCharges(
  db: Reader,
  ids: readonly InstanceId[],
): Promise<ReadonlyMap<InstanceId, bigint>> {
  const { rows } = await sql<{ id: InstanceId; charged: bigint }>`
    select instance_id as id, sum(amount_nanos)::bigint as charged from charge_lines
    where instance_id = any(${[...ids]}::integer[]) and component in ('bwu', 'bwd')
    group by instance_id
  `.execute(db);
  return new Map(rows.map((row) => [row.id, row.charged]));
}

function toLine(row: Selectable<ChargeLinesTable>): AuditedLine {
  return {
    id: row.id,
    transferId: row.transfer_id ?? undefined,
    payerId: row.payer_id as UserId,
    hostId: row.host_id as UserId,
    machineId: row.machine_id ?? undefined,
    instanceId: row.instance_id ?? undefined,
    volumeId: row.volume_id ?? undefined,
    generation: row.generation ?? undefined,
    component: row.component as AuditedLine["component"],
    state: row.state as AuditedLine["state"],
    fromAt: row.from_at,
    toAt: row.to_at,
    quantity: row.quantity,
    sizeBytes: row.size_bytes ?? undefined,
    unitPriceNanos: row.unit_price_nanos,
    discountPpm: row.discount_ppm,
    amountNanos: row.amount_nanos,
    unpaidNanos: row.unpaid_nanos,
    paidFrom: row.paid_from as AuditedLine["paidFrom"],
    chargedAt: row.charged_at,
  };
}
