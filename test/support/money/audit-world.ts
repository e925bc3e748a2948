// A small world whose books are right to the last row: an audit finds it sound until a test plants a mistake.
import { ManualClock } from "../manual-clock.ts";
import { asId, type InstanceId, type MachineId, type UserId, type VolumeId } from "../../../server/src/base/ids.ts";
import { withTransaction, type Tx } from "../../../server/src/db/transaction.ts";
import {
  creditOf,
  depositOf,
  earningsOf,
  placeHold,
  postTransfer,
  type UsageCode,
} from "../../../server/src/domains/money/ledger/index.ts";
import { nanos } from "../../../server/src/base/money.ts";
import { lineAmount } from "../../../server/src/domains/money/charging/index.ts";
import { aUser } from "../fixtures.ts";
import { grantOf } from "./ledger.ts";
import { aMachine, anInstanceRow } from "../hosts/machines.ts";
import { testDatabase, type TestDatabase } from "../database/postgres.ts";

export const HOUR_MS = 3_600_000;
const DOLLAR = 1_000_000_000n;
const GB = 1_000_000_000n;

export type AuditWorld = {
  readonly env: TestDatabase;
  readonly clock: ManualClock;
  readonly renterId: UserId;
  readonly hostId: UserId;
  readonly machineId: MachineId;
  /** An instance that ran two hours, the first at $1 and the second at $2, sent and received, and is running. */
  readonly instanceId: InstanceId;
  /** A reserved instance: its deposit pays at a discount of 20 %. */
  readonly reservedId: InstanceId;
  readonly volumeId: VolumeId;
  /** Runs SQL with the triggers of a table off, as only a mistake could. */
  plant(table: string, statement: string, values?: readonly unknown[]): Promise<void>;
  /** Charges a line, and everything that goes with it. */
  charge(line: PlantedLine): Promise<bigint>;
  sql(statement: string, values?: readonly unknown[]): Promise<readonly Readonly<Record<string, unknown>>[]>;
};

export type PlantedLine = {
  readonly instanceId?: InstanceId;
  readonly volumeId?: VolumeId;
  readonly component: "gpu" | "disk" | "bwu" | "bwd";
  readonly state: "running" | "loading" | "stopped" | "stored";
  readonly fromAt: Date;
  readonly toAt: Date;
  readonly quantity: bigint;
  readonly sizeBytes?: bigint;
  readonly unitPriceNanos: bigint;
  readonly discountPpm?: number;
  readonly paidFrom?: "credit" | "deposit";
};

const CODES: Readonly<Record<PlantedLine["component"], UsageCode>> = {
  gpu: "usage_gpu",
  disk: "usage_storage",
  bwu: "usage_bandwidth_up",
  bwd: "usage_bandwidth_down",
};

export async function auditWorld(scope: Parameters<typeof testDatabase>[0]): Promise<AuditWorld> {
  const env = await testDatabase(scope);
  const clock = new ManualClock("2026-03-01T10:00:00Z");
  const begin = clock.now();
  const inTx = <T>(work: (tx: Tx) => Promise<T>) => withTransaction(env.database, clock, work);
  const sql = async (statement: string, values: readonly unknown[] = []) =>
    (await env.pool.query(statement, [...values])).rows;
  const made = await inTx(async (tx) => {
    const [renter, host] = [await aUser(tx), await aUser(tx)];
    await postTransfer(tx, grantOf(renter.id, 100n * DOLLAR));
    const machineId = await aMachine(tx, host.id);
    const instanceId = await anInstanceRow(tx, renter.id, machineId);
    const reservedId = await anInstanceRow(tx, renter.id, machineId);
    return { renterId: renter.id, hostId: host.id, machineId, instanceId, reservedId };
  });
  const { renterId, hostId, machineId, instanceId, reservedId } = made;
  await sql("update machines set last_seen_at = $2, is_connected = true where id = $1", [machineId, begin]);
  await sql("delete from machine_spans where machine_id = $1", [machineId]);
  await sql("insert into machine_spans (machine_id, from_at) values ($1, $2)", [machineId, begin]);
  const volumeId = await plantVolume(sql, { renterId, machineId, begin });
  for (const [position, id] of [instanceId, reservedId].entries()) {
    await bringUp(sql, { id, machineId, position, begin });
  }

  const charge = (line: PlantedLine) => inTx((tx) => insertLine(tx, made, line));
  const world: AuditWorld = {
    env,
    clock,
    renterId,
    hostId,
    machineId,
    instanceId,
    reservedId,
    volumeId,
    sql,
    charge,
    async plant(table, statement, values = []) {
      await sql(`alter table ${table} disable trigger user`);
      await sql(statement, values);
      await sql(`alter table ${table} enable trigger user`);
    },
  };
  await live(world, inTx);
  return world;
}

type Sql = AuditWorld["sql"];

async function plantVolume(
  sql: Sql,
  { renterId, machineId, begin }: { readonly renterId: UserId; readonly machineId: MachineId; readonly begin: Date },
): Promise<VolumeId> {
  const [offer] = await sql(
    `insert into volume_offers (machine_id, size_bytes, price_nanos_per_gb_month, end_at, created_at, updated_at)
     values ($1, 1, 1, $2, $2, $2) returning id`,
    [machineId, begin],
  );
  const [volume] = await sql(
    `insert into volumes (user_id, machine_id, volume_offer_id, name, size_bytes, price_nanos_per_gb_month, end_at,
       created_at, metered_from_at, storage_charged_until_at, settle_at)
     values ($1, $2, $3, 'data', 20000000000, 100000000, $5, $4, $4, $4, $4) returning id`,
    [renterId, machineId, offer?.["id"], begin, new Date(begin.getTime() + 1000 * HOUR_MS)],
  );
  return asId<VolumeId>(Number(volume?.["id"]));
}

/** Starts an instance that runs since `begin`, on a device of its own. */
async function bringUp(
  sql: Sql,
  {
    id,
    machineId,
    position,
    begin,
  }: { readonly id: InstanceId; readonly machineId: MachineId; readonly position: number; readonly begin: Date },
): Promise<void> {
  await sql(
    `with tab as (
       update instance_tabs set metered_from_at = $2, storage_charged_until_at = $2, settle_at = $2 where instance_id = $1
     )
     update instances set phase = 'running', generation = 1, price_nanos_per_hour = 1000000000, storage_nanos_per_gb_month = 150000000,
       inet_up_nanos_per_gb = 2000000, inet_down_nanos_per_gb = 3000000, disk_bytes = 10000000000, end_at = $3
     where id = $1`,
    [id, begin, new Date(begin.getTime() + 1000 * HOUR_MS)],
  );
  await sql(
    `insert into instance_runs (instance_id, generation, started_at, last_counted_at, metered_from_at)
     values ($1, 1, $2, $2, $2)`,
    [id, begin],
  );
  await sql(
    `insert into instance_events (instance_id, at, actor, cause, from_phase, to_phase, generation)
     values ($1, $2, 'host', 'container_running', 'starting', 'running', 1)`,
    [id, begin],
  );
  await sql(
    `insert into leases (device_id, machine_id, instance_id, generation, is_bid, price_nanos_per_device_hour, granted_at)
     select d.id, $2, $1, 1, false, 0, $4 from devices d where d.machine_id = $2 order by d.position offset $3 limit 1`,
    [id, machineId, position, begin],
  );
}

/** Lets the world live for two hours, charged at the end of each. */
async function live(world: AuditWorld, inTx: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>): Promise<void> {
  const { instanceId, reservedId, renterId, sql } = world;
  await inTx(async (tx) => {
    await postTransfer(tx, {
      key: `prepay:${reservedId}:1`,
      debit: creditOf(renterId),
      credit: depositOf(renterId, reservedId),
      amount: nanos(5n * DOLLAR),
      code: "prepay",
      cause: { instance_id: reservedId },
      description: "prepaid",
    });
    await tx.db
      .insertInto("deposits")
      .values({
        instance_id: reservedId,
        user_id: renterId,
        discount_ppm: 200_000,
        prepay_count: 1,
        opened_at: tx.now,
      })
      .execute();
  });
  await sql("update instances set discount_ppm = 200000 where id = $1", [reservedId]);
  await passHour(world, 1n * DOLLAR);
  await sql(
    `insert into past_terms (instance_id, until_at, generation, until_running_ms, until_received_bytes, until_sent_bytes,
       price_nanos_per_hour, storage_nanos_per_gb_month, inet_up_nanos_per_gb, inet_down_nanos_per_gb, discount_ppm)
     values ($1, $2, 1, 3600000, 1000000000, 2000000000, 1000000000, 150000000, 2000000, 3000000, 0)`,
    [instanceId, world.clock.now()],
  );
  await sql("update instances set price_nanos_per_hour = 2000000000 where id = $1", [instanceId]);
  await passHour(world, 2n * DOLLAR);
  for (const id of [instanceId, reservedId]) {
    const hold = await inTx((tx) =>
      placeHold(tx, {
        userId: renterId,
        amount: nanos(DOLLAR),
        cause: { instance_id: id },
        scopes: [`account:${renterId}`, `instance:${id}`],
      }),
    );
    if (hold.kind !== "placed") throw new Error("the hold was not placed");
    await sql("update instance_tabs set hold_id = $2 where instance_id = $1", [id, hold.holdId]);
  }
}

/** Lets another hour of both instances and the volume pass, at this price for the first one. */
export async function passHour(world: AuditWorld, price: bigint): Promise<void> {
  const { clock, machineId, instanceId, reservedId, volumeId, sql, charge } = world;
  const fromAt = clock.now();
  clock.jump(HOUR_MS);
  const toAt = clock.now();
  await sql("update machines set last_seen_at = $2 where id = $1", [machineId, toAt]);
  await sql(
    `update instance_runs set running_ms = running_ms + 3600000, received_bytes = received_bytes + 1000000000,
       sent_bytes = sent_bytes + 2000000000, last_counted_at = $1`,
    [toAt],
  );
  const hour = { fromAt, toAt, quantity: BigInt(HOUR_MS) };
  // Counted time ends at the time of its counter, even after the machine was away.
  const [run] = await sql(
    `select metered_from_at + (running_ms - 3600000) * interval '1 ms' as from_at,
       metered_from_at + running_ms * interval '1 ms' as to_at
     from instance_runs where instance_id = $1`,
    [instanceId],
  );
  const running = {
    ...hour,
    fromAt: new Date(String(run?.["from_at"])),
    toAt: new Date(String(run?.["to_at"])),
    state: "running" as const,
  };
  await charge({ ...running, instanceId, component: "gpu", unitPriceNanos: price });
  await charge({
    ...running,
    instanceId: reservedId,
    component: "gpu",
    unitPriceNanos: DOLLAR,
    discountPpm: 200_000,
    paidFrom: "deposit",
  });
  for (const id of [instanceId, reservedId]) {
    await charge({ ...running, instanceId: id, component: "bwu", quantity: 2n * GB, unitPriceNanos: 2_000_000n });
    await charge({ ...running, instanceId: id, component: "bwd", quantity: GB, unitPriceNanos: 3_000_000n });
    const disk = { component: "disk" as const, unitPriceNanos: 150_000_000n, sizeBytes: 10n * GB };
    await charge({ ...running, ...hour, ...disk, instanceId: id });
  }
  const stored = { component: "disk", state: "stored", unitPriceNanos: 100_000_000n, sizeBytes: 20n * GB } as const;
  await charge({ ...hour, ...stored, volumeId });
  await sql(
    `update instance_runs set charged_running_ms = running_ms, charged_received_bytes = received_bytes,
       charged_sent_bytes = sent_bytes`,
  );
  await sql("update instance_tabs set storage_charged_until_at = $1", [toAt]);
  await sql("update volumes set storage_charged_until_at = $1", [toAt]);
}

async function insertLine(
  tx: Tx,
  { renterId, hostId, machineId }: Pick<AuditWorld, "renterId" | "hostId" | "machineId">,
  { instanceId, volumeId, sizeBytes, discountPpm = 0, paidFrom = "credit", ...line }: PlantedLine,
): Promise<bigint> {
  const amount = lineAmount({ ...line, sizeBytes, discountPpm });
  const contract = instanceId === undefined ? { volume_id: volumeId ?? 0 } : { instance_id: instanceId };
  const outcome = await postTransfer(tx, {
    key: `${line.component}:${instanceId ?? "-"}:${volumeId ?? "-"}:${line.fromAt.toISOString()}:${paidFrom}`,
    debit: paidFrom === "deposit" ? depositOf(renterId, asId<InstanceId>(instanceId ?? 0)) : creditOf(renterId),
    credit: earningsOf(hostId),
    amount,
    code: CODES[line.component],
    cause: { ...contract, machine_id: machineId, quantity: line.quantity.toString() },
    description: "for a test",
  });
  if (outcome.kind !== "posted") throw new Error(`the line was not paid: ${outcome.kind}`);
  const row = await tx.db
    .insertInto("charge_lines")
    .values({
      transfer_id: outcome.transferId,
      payer_id: renterId,
      host_id: hostId,
      machine_id: machineId,
      instance_id: instanceId ?? null,
      volume_id: volumeId ?? null,
      generation: line.component === "disk" ? null : 1,
      component: line.component,
      state: line.state,
      cause: "container_running",
      from_at: line.fromAt,
      to_at: line.toAt,
      quantity: line.quantity,
      size_bytes: sizeBytes ?? null,
      unit_price_nanos: line.unitPriceNanos,
      discount_ppm: discountPpm,
      amount_nanos: amount,
      paid_from: paidFrom,
      charged_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  if (instanceId !== undefined && (line.component === "bwu" || line.component === "bwd")) {
    await tx.db
      .updateTable("instances")
      .set((eb) => ({ traffic_spent_nanos: eb("traffic_spent_nanos", "+", BigInt(amount)) }))
      .where("id", "=", instanceId)
      .execute();
  }
  return row.id;
}
