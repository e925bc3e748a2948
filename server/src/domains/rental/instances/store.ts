import { sql, type Selectable } from "kysely";
import type { ObservedInstance } from "../../../../../protocol/index.ts";
import type { InstanceId, MachineId, TemplateId, UserId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import type { InstancesTable } from "../../../db/tables.ts";
import type { Database } from "../../../db/connect.ts";
import { insertRows, toJsonRows } from "../../../db/insert-rows.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import { parseCapScope, type HoldId } from "../../money/ledger/index.ts";
import { openTabs, storageChargedUntil } from "../../money/tabs/index.ts";
import { notifyMachines } from "../../supply/hosts/for-instances.ts";
import type { EncryptedLaunch } from "../templates/index.ts";
import type { Actor, Instance, InstanceTraffic, Observation } from "./instance.ts";
import { deadlineOf, type Phase } from "./lifecycle/rules/lifecycle.ts";

/** Channel on which every process learns that the desired sets of machines changed. */
export const DESIRED_CHANNEL = "desired_changed";

export async function notifyDesired(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  await notifyMachines(tx, DESIRED_CHANNEL, machineIds);
}

/** Takes ids for instances that are about to be inserted: their answers name them before the rows exist. */
export async function reserveIds(database: Database, count: number): Promise<readonly InstanceId[]> {
  const { rows } = await sql<{ id: InstanceId }>`
    select nextval(sequence)::integer as id
    from (select pg_get_serial_sequence('instances', 'id')::regclass as sequence offset 0) as found
    cross join generate_series(1, ${count})
  `.execute(database.kysely);
  return rows.map((row) => row.id);
}

export type NewInstance = Omit<
  Instance,
  | "bundleId"
  | "isBackground"
  | "discountPpm"
  | "observed"
  | "deviceProblem"
  | "newerRunsUntilAt"
  | "phaseSinceAt"
  | "deadlineAt"
  | "createdAt"
  | "traffic"
> & {
  readonly bundleId?: number | undefined;
  readonly isBackground?: boolean;
  readonly holdId: HoldId | undefined;
  /** The limit of its traffic costs; absent for an instance that costs nothing. */
  readonly traffic?: Pick<InstanceTraffic, "limitNanos" | "leftNanos"> | undefined;
};

/** Inserts a batch, with its tabs and first events, in one statement each. */
export async function insertInstances(tx: Tx, instances: readonly NewInstance[], actorOf: (i: NewInstance) => Actor) {
  if (instances.length === 0) return;
  const rows = instances.map((instance) => ({
    id: instance.id,
    user_id: instance.userId,
    machine_id: instance.machineId,
    offer_id: instance.offerId,
    bundle_id: instance.bundleId ?? null,
    template_id: instance.templateId ?? null,
    template_hash_id: instance.templateHashId ?? null,
    label: instance.label ?? null,
    is_bid: instance.isBid,
    is_background: instance.isBackground ?? false,
    price_nanos_per_hour: instance.priceNanosPerHour,
    storage_nanos_per_gb_month: instance.storageNanosPerGbMonth,
    inet_up_nanos_per_gb: instance.inetUpNanosPerGb,
    inet_down_nanos_per_gb: instance.inetDownNanosPerGb,
    traffic_limit_nanos: instance.traffic?.limitNanos ?? null,
    traffic_left_nanos: instance.traffic?.leftNanos ?? null,
    device_count: instance.deviceCount,
    disk_bytes: instance.diskBytes,
    launch: instance.launch,
    desired: instance.desired,
    phase: instance.phase,
    phase_cause: instance.phaseCause,
    phase_since_at: tx.now,
    deadline_at: deadlineOf(instance.phase, tx.now),
    generation: instance.generation,
    cap_scopes: instance.capScopes,
    created_at: tx.now,
    end_at: instance.endAt,
  }));
  await insertRows(tx, "instances", rows);
  await openTabs(
    tx,
    instances.map(({ id, userId, isBackground = false, holdId }) => ({
      instanceId: id,
      userId,
      isFree: isBackground,
      holdId,
    })),
  );
  await insertEvents(
    tx,
    instances.map((instance) => ({
      instanceId: instance.id,
      actor: actorOf(instance),
      cause: instance.phaseCause,
      from: undefined,
      to: instance.phase,
      generation: instance.generation,
    })),
  );
}

export type NewEvent = {
  readonly instanceId: InstanceId;
  readonly actor: Actor;
  readonly cause: string;
  readonly from: Phase | undefined;
  readonly to: Phase;
  readonly generation: number;
};

/**
 * Stores events, and returns their times by instance. An event happens now, but not before the last event of its
 * instance and not before the end of its charged storage, which the clock of another server may have put a little later
 * than now. Charges rest on the events before them, so events keep their order.
 */
export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<ReadonlyMap<InstanceId, Date>> {
  if (events.length === 0) return new Map();
  const rows = events.map((event) => ({
    instance_id: event.instanceId,
    actor: event.actor,
    cause: event.cause,
    from_phase: event.from ?? null,
    to_phase: event.to,
    generation: event.generation,
  }));
  const { rows: inserted } = await sql<{ readonly instance_id: InstanceId; readonly at: Date }>`
    insert into instance_events (instance_id, at, actor, cause, from_phase, to_phase, generation)
    select said.instance_id,
      greatest(${tx.now}::timestamptz, ${storageChargedUntil(sql`said.instance_id`)}, (
        select last.at from instance_events as last where last.instance_id = said.instance_id order by last.id desc limit 1
      )),
      said.actor, said.cause, said.from_phase, said.to_phase, said.generation
    from json_populate_recordset(null::instance_events, ${toJsonRows(rows)}::json) as said
    returning instance_id, at
  `.execute(tx.db);
  return new Map(inserted.map((row) => [row.instance_id, row.at]));
}

/** Instances of any owner by id: the caller compares owners. */
export async function listInstancesById(db: Reader, ids: readonly InstanceId[]): Promise<readonly Instance[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom("instances")
    .selectAll()
    .where("id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .execute();
  return rows.map(toInstance);
}

/** The machine of an instance of this owner, without a lock. */
export async function findMachineOf(db: Reader, userId: UserId, id: InstanceId): Promise<MachineId | undefined> {
  const row = await db
    .selectFrom("instances")
    .select("machine_id")
    .where("id", "=", id)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  return row?.machine_id;
}

/** The machine of an instance of any owner, for rules. */
export async function findMachineIdOfAny(db: Reader, id: InstanceId): Promise<MachineId | undefined> {
  const row = await db.selectFrom("instances").select("machine_id").where("id", "=", id).executeTakeFirst();
  return row?.machine_id;
}

/** The machines of these instances, of any owner. */
export async function listMachineIdsOfInstances(db: Reader, ids: readonly InstanceId[]): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("instances")
    .select("machine_id")
    .distinct()
    .where("id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .execute();
  return rows.map((row) => row.machine_id);
}

/**
 * Locks instances in id order. The caller holds the row locks of their machines. If the caller is not certain of the
 * machines, `on` names those it holds, and instances elsewhere are left out.
 */
export async function lockInstances(
  tx: Tx,
  ids: readonly InstanceId[],
  { on }: { readonly on?: readonly MachineId[] } = {},
): Promise<readonly Instance[]> {
  if (ids.length === 0) return [];
  const rows = await tx.db
    .selectFrom("instances")
    .selectAll()
    .where("id", "=", sql<InstanceId>`any(${ids}::integer[])`)
    .where(on === undefined ? sql<boolean>`true` : sql<boolean>`machine_id = any(${on}::integer[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
  return rows.map(toInstance);
}

/** The greatest id of all rows; 0 without any. */
export async function findLastInstanceId(db: Reader): Promise<number> {
  const { last } = await db
    .selectFrom("instances")
    .select(({ fn }) => fn.max("id").as("last"))
    .executeTakeFirstOrThrow();
  return last ?? 0;
}

/** Instances on these machines that are not over, in id order. */
export async function listInstancesOn(db: Reader, machineIds: readonly MachineId[]): Promise<readonly Instance[]> {
  const rows = await db
    .selectFrom("instances")
    .selectAll()
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .where("ended_at", "is", null)
    .orderBy("id")
    .execute();
  return rows.map(toInstance);
}

export async function listInstancesOf(db: Reader, userId: UserId): Promise<readonly Instance[]> {
  const rows = await db
    .selectFrom("instances")
    .selectAll()
    .where("user_id", "=", userId)
    .where("phase", "not in", ["ending", "ended"])
    .orderBy("id")
    .execute();
  return rows.map(toInstance);
}

/** Machines on which a user rents. */
export async function listMachineIdsOf(db: Reader, userId: UserId): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("instances")
    .select("machine_id")
    .distinct()
    .where("user_id", "=", userId)
    .where("phase", "not in", ["ending", "ended"])
    .where("is_background", "=", false)
    .execute();
  return rows.map((row) => row.machine_id);
}

export async function setLabel(tx: Tx, id: InstanceId, label: string | null): Promise<void> {
  await tx.db.updateTable("instances").set({ label }).where("id", "=", id).execute();
}

export async function setPrice(tx: Tx, id: InstanceId, priceNanosPerHour: bigint): Promise<void> {
  await tx.db.updateTable("instances").set({ price_nanos_per_hour: priceNanosPerHour }).where("id", "=", id).execute();
}

/** The one writer of what hosts observe. A report on an older generation than the stored one changes nothing. */
export async function updateObservations(tx: Tx, observed: readonly ObservedInstance[]): Promise<void> {
  if (observed.length === 0) return;
  await sql`
    update instances set
      observed_generation = seen.generation,
      observed_state = seen.state,
      observed_status_msg = seen.status_msg,
      observed_ports = seen.ports,
      observed_pull = seen.pull,
      -- A host that has nothing running tells no key; the one that it had is the one that it will have.
      observed_ssh_host_key = coalesce(seen.ssh_host_key, observed_ssh_host_key),
      observed_at = ${tx.now}::timestamptz
    from unnest(
      ${observed.map((seen) => seen.instance_id)}::integer[], ${observed.map((seen) => seen.generation)}::integer[],
      ${observed.map((seen) => seen.state)}::text[],
      ${observed.map((seen) => seen.status_msg.replaceAll("\0", ""))}::text[],
      ${observed.map((seen) => JSON.stringify(portsOf(seen)))}::jsonb[],
      ${observed.map(({ pull }) => (pull === undefined ? null : JSON.stringify(pull)))}::jsonb[],
      ${observed.map((seen) => hostKeyOf(seen))}::text[]
    ) as seen (id, generation, state, status_msg, ports, pull, ssh_host_key)
    where instances.id = seen.id and instances.observed_generation <= seen.generation
      and instances.generation >= seen.generation
  `.execute(tx.db);
}

const PORT = /^\d{1,5}\/(tcp|udp)$/;

/** Renters see the ports that their host reports; any other value under this name is dropped. */
function portsOf({ ports }: ObservedInstance): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(ports).filter(([key]) => PORT.test(key)));
}

const HOST_KEY = /^[a-z0-9@.-]{1,64} [A-Za-z0-9+/]{16,1000}={0,2}$/;

/** The key becomes a line of somebody's `known_hosts`, so anything but a type and a key is dropped. */
function hostKeyOf({ ssh_host_key: key }: ObservedInstance): string | null {
  return key !== null && HOST_KEY.test(key) ? key : null;
}

/** Instances that stayed too long in their phase. */
export async function listOverdue(db: Reader, now: Date, limit: number) {
  return db
    .selectFrom("instances")
    .select(["id", "machine_id as machineId"])
    .where("deadline_at", "<", now)
    .orderBy("deadline_at")
    .limit(limit)
    .execute();
}

/** Instances that should run although their rental has ended. */
export async function listEndedRentals(db: Reader, now: Date, limit: number) {
  return db
    .selectFrom("instances")
    .select(["id", "machine_id as machineId"])
    .where("end_at", "<", now)
    .where("desired", "=", "running")
    .where("ended_at", "is", null)
    .orderBy("end_at")
    .limit(limit)
    .execute();
}

/** Leaving instances on machines whose agents have certainly stopped everything. */
export async function listLeavingOn(db: Reader, machineIds: readonly MachineId[]) {
  return db
    .selectFrom("instances")
    .select(["id", "machine_id as machineId"])
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .where("phase", "in", ["yielding", "stopping", "ending"])
    .execute();
}

function toInstance(row: Selectable<InstancesTable>): Instance {
  return {
    id: row.id,
    userId: row.user_id,
    machineId: row.machine_id,
    offerId: row.offer_id,
    bundleId: row.bundle_id === null ? undefined : Number(row.bundle_id),
    templateId: (row.template_id ?? undefined) as TemplateId | undefined,
    templateHashId: row.template_hash_id ?? undefined,
    label: row.label ?? undefined,
    isBid: row.is_bid,
    priceNanosPerHour: nanos(row.price_nanos_per_hour),
    isBackground: row.is_background,
    discountPpm: row.discount_ppm,
    storageNanosPerGbMonth: nanos(row.storage_nanos_per_gb_month),
    inetUpNanosPerGb: nanos(row.inet_up_nanos_per_gb),
    inetDownNanosPerGb: nanos(row.inet_down_nanos_per_gb),
    traffic: {
      limitNanos: row.traffic_limit_nanos === null ? undefined : nanos(row.traffic_limit_nanos),
      spentNanos: nanos(row.traffic_spent_nanos),
      leftNanos: row.traffic_left_nanos === null ? undefined : nanos(row.traffic_left_nanos),
      isReached: row.traffic_reached_at !== null,
    },
    deviceCount: row.device_count,
    diskBytes: row.disk_bytes,
    launch: row.launch as EncryptedLaunch,
    desired: row.desired,
    phase: row.phase,
    phaseCause: row.phase_cause,
    phaseSinceAt: row.phase_since_at,
    generation: row.generation,
    newerRunsUntilAt: row.newer_runs_until_at ?? undefined,
    revision: row.revision,
    observed: toObservation(row),
    deviceProblem: row.device_problem,
    deadlineAt: row.deadline_at ?? undefined,
    capScopes: row.cap_scopes.map(parseCapScope),
    createdAt: row.created_at,
    endAt: row.end_at,
  };
}

function toObservation(row: Selectable<InstancesTable>): Observation | undefined {
  if (row.observed_state === null || row.observed_at === null) return undefined;
  return {
    generation: row.observed_generation,
    state: row.observed_state,
    statusMsg: row.observed_status_msg,
    ports: row.observed_ports as Readonly<Record<string, number>>,
    pull: (row.observed_pull ?? undefined) as Observation["pull"],
    sshHostKey: row.observed_ssh_host_key ?? undefined,
    at: row.observed_at,
  };
}
