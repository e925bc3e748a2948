import { sql, type Selectable } from "kysely";
import type { AgentCredentialId, DeviceId, MachineId, UserId } from "../../../base/ids.ts";
import { nanos } from "../../../base/money.ts";
import type { AgentCredentialsTable, MachinesTable } from "../../../db/tables.ts";
import type { Reader, Tx } from "../../../db/transaction.ts";
import type { Joiner } from "./join/store.ts";
import {
  readGpuFacts,
  readMachineFacts,
  type Device,
  type Machine,
  type MachineDescription,
  type ScheduledMachine,
} from "./machines/rules/machine.ts";
import { closeSpans } from "./presence/span-store.ts";

export type Credential = {
  readonly id: AgentCredentialId;
  readonly userId: UserId;
  readonly isTrusted: boolean;
  /** The machine that the credential was created for; undefined for the agent that the server starts itself. */
  readonly joiner?: Joiner | undefined;
};

/** One connection of one machine. Only the newest connection of a machine counts. */
export type Registration = { readonly machineId: MachineId; readonly sessionNumber: number };

export type FoundCredential = Credential & { readonly isRevoked: boolean; readonly tokenSha256: Buffer };

const CREDENTIAL = ["id", "user_id", "is_trusted", "fingerprint", "host_key", "revoked_at", "token_sha256"] as const;

/**
 * Credentials by their token hashes, in the order of the input. Revoked credentials are included: their agents are told
 * why the server refuses them.
 */
export async function findCredentials(
  db: Reader,
  tokenSha256s: readonly Buffer[],
): Promise<readonly (FoundCredential | undefined)[]> {
  const rows = await db
    .selectFrom("agent_credentials")
    .select(CREDENTIAL)
    .where("token_sha256", "=", sql<Buffer>`any(${tokenSha256s}::bytea[])`)
    .execute();
  const found = new Map(rows.map((row) => [row.token_sha256.toString("hex"), toCredential(row)]));
  return tokenSha256s.map((hash) => found.get(hash.toString("hex")));
}

/** Credentials by their ids, in the order of the input. */
export async function findCredentialsById(
  db: Reader,
  ids: readonly AgentCredentialId[],
): Promise<readonly (FoundCredential | undefined)[]> {
  const rows = await db
    .selectFrom("agent_credentials")
    .select(CREDENTIAL)
    .where("id", "=", sql<AgentCredentialId>`any(${ids}::integer[])`)
    .execute();
  const found = new Map(rows.map((row) => [row.id, toCredential(row)]));
  return ids.map((id) => found.get(id));
}

function toCredential({
  fingerprint,
  host_key: hostKey,
  ...row
}: Pick<Selectable<AgentCredentialsTable>, (typeof CREDENTIAL)[number]>): FoundCredential {
  const joiner = fingerprint === null || hostKey === null ? undefined : { fingerprint, hostKey };
  return {
    id: row.id,
    tokenSha256: row.token_sha256,
    userId: row.user_id,
    isTrusted: row.is_trusted,
    joiner,
    isRevoked: row.revoked_at !== null,
  };
}

/** The credential of an agent that a server starts itself, named by user and data directory. */
type OwnCredential = { readonly userId: UserId; readonly name: string; readonly dataDirKey?: string | undefined };

export async function insertCredential(
  tx: Tx,
  credential: OwnCredential & { tokenSha256: Buffer; isTrusted: boolean } & Partial<Joiner>,
): Promise<AgentCredentialId> {
  const { userId, name, dataDirKey = null, tokenSha256, isTrusted, fingerprint = null, hostKey = null } = credential;
  const made = { token_sha256: tokenSha256, is_trusted: isTrusted, created_at: tx.now };
  const row = await tx.db
    .insertInto("agent_credentials")
    .values({ user_id: userId, name, data_dir_key: dataDirKey, fingerprint, host_key: hostKey, ...made })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Gives the credential of this name a new token; undefined when there is none. Its machines stay with it. */
export async function replaceCredentialToken(
  tx: Tx,
  { userId, name, dataDirKey, tokenSha256 }: OwnCredential & { readonly tokenSha256: Buffer },
): Promise<AgentCredentialId | undefined> {
  const row = await tx.db
    .updateTable("agent_credentials")
    .set({ token_sha256: tokenSha256 })
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .where("data_dir_key", "is not distinct from", dataDirKey ?? null)
    .where("fingerprint", "is", null)
    .where("revoked_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/**
 * Assigns a credential that has no data directory to this directory: it comes from a version with one server per
 * database.
 */
export async function adoptCredential(
  tx: Tx,
  { userId, name, dataDirKey }: OwnCredential & { readonly dataDirKey: string },
): Promise<void> {
  await tx.db
    .updateTable("agent_credentials")
    .set({ data_dir_key: dataDirKey })
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .where("data_dir_key", "is", null)
    .where("fingerprint", "is", null)
    .where("revoked_at", "is", null)
    .execute();
}

/** A machine that sent a message, and when the server received it: the message may wait before it is stored. */
export type HeardMachine = { readonly machineId: MachineId; readonly heardAt: Date };

/**
 * Locks machines in id order, as `lockMachines` does. Returns the number of each machine's newest connection and
 * whether it counts as connected.
 */
export async function lockHeardMachines(
  tx: Tx,
  ids: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, { readonly sessionNumber: number; readonly isConnected: boolean }>> {
  const rows = await tx.db
    .selectFrom("machines")
    .select(["id", "session_number", "is_connected"])
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, { sessionNumber: row.session_number, isConnected: row.is_connected }]));
}

/**
 * Extends the heartbeat leases of machines that reported, in one statement for a whole batch. A machine was in touch
 * until its message arrived, not until the server stored it: the server's delay proves nothing. Rentals were charged up
 * to that time, so it never moves back.
 */
export async function touchMachines(tx: Tx, heard: readonly HeardMachine[], leaseUntil: Date): Promise<void> {
  await sql`
    update machines set last_seen_at = greatest(last_seen_at, heard.at), lease_until_at = ${leaseUntil}::timestamptz
    from unnest(
      ${heard.map(({ machineId }) => machineId)}::integer[], ${heard.map(({ heardAt }) => heardAt)}::timestamptz[]
    ) as heard (id, at)
    where machines.id = heard.id
  `.execute(tx.db);
}

/** The end of a connection, with the time at which its machine was last heard. */
export type Departure = Registration & { readonly heardAt: Date };

/** Notes ends of connections; returns the machines that have not reconnected since, to this process or another. */
export async function markDisconnected(tx: Tx, departures: readonly Departure[]): Promise<readonly MachineId[]> {
  const { rows } = await sql<{ id: MachineId }>`
    update machines set is_connected = false, server_id = null,
      last_seen_at = greatest(last_seen_at, gone.heard_at)
    from unnest(
      ${departures.map(({ machineId }) => machineId)}::integer[],
      ${departures.map(({ sessionNumber }) => sessionNumber)}::integer[],
      ${departures.map(({ heardAt }) => heardAt)}::timestamptz[]
    ) as gone (id, session_number, heard_at)
    where machines.id = gone.id and machines.session_number = gone.session_number
    returning machines.id
  `.execute(tx.db);
  const ids = rows.map((row) => row.id);
  await closeSpans(tx, ids);
  return ids;
}

/** Machines whose heartbeat lease has ended, so that their agents have stopped everything. */
export async function listMachinesWithExpiredLease(
  db: Reader,
  now: Date,
  limit: number,
): Promise<readonly MachineId[]> {
  const rows = await db
    .selectFrom("machines")
    .select("id")
    .where("lease_until_at", "<", now)
    .where("is_connected", "=", false)
    .orderBy("lease_until_at")
    .limit(limit)
    .execute();
  return rows.map((row) => row.id);
}

/**
 * Locks machines in id order; a change of what runs on a machine needs its lock. The lock allows foreign key checks
 * meanwhile: a settlement holds instances and the ledger when it updates an instance a second time, which checks its
 * machine.
 */
export async function lockMachines(tx: Tx, ids: readonly MachineId[]): Promise<void> {
  await tx.db
    .selectFrom("machines")
    .select("id")
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .orderBy("id")
    .forNoKeyUpdate()
    .execute();
}

/**
 * Disk space of these machines that renters were promised: offers exclude it until the last file of the rental is
 * deleted. Computed on each read, so that no stored sum can drift, and for all machines at once, since a query per
 * machine costs more than the rest of a rental.
 */
export function promisedOn(ids: readonly MachineId[] | undefined) {
  const among = ids === undefined ? sql`true` : sql`machine_id = any(${ids}::integer[])`;
  return sql`promised as materialized (
    select machine_id, sum(bytes)::bigint as bytes from disk_promises where ${among} group by machine_id
  )`;
}

/** Machines with their devices, by id; all of them when `ids` is undefined. */
export async function listMachines(db: Reader, ids?: readonly MachineId[]): Promise<ReadonlyMap<MachineId, Machine>> {
  const among = (column: string) => (ids === undefined ? sql`true` : sql`${sql.ref(column)} = any(${ids}::integer[])`);
  const { rows } = await sql<MachineRow>`
    with ${promisedOn(ids)}, present as materialized (
      select machine_id, array_agg(id order by position, id) as device_ids,
        array_agg(uuid order by position, id) as device_uuids, array_agg(kind order by position, id) as device_kinds,
        array_agg(position order by position, id) as device_positions,
        array_agg(is_present order by position, id) as device_present,
        array_agg(is_present and is_healthy order by position, id) as device_usable,
        count(*) filter (where is_present)::integer as present_count
      from devices where ${among("machine_id")}
      group by machine_id
    )
    select machines.*, coalesce(promised.bytes, 0) as promised_disk_bytes, present.device_ids, present.device_uuids,
      present.device_kinds, present.device_positions, present.device_present, present.device_usable,
      coalesce(present.present_count, 0) as present_count, (
        select gpu.facts from devices as gpu where gpu.machine_id = machines.id and gpu.kind = 'gpu'
        order by gpu.is_present desc, gpu.position limit 1
      ) as gpu_facts
    from machines
    left join promised on promised.machine_id = machines.id
    left join present on present.machine_id = machines.id
    where ${among("machines.id")}
    order by machines.id
  `.execute(db);
  return new Map(rows.map((row) => [row.id, toMachine(row)]));
}

/** Machines as `listMachines` returns them, without their devices. */
export async function describeMachines(
  db: Reader,
  ids: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, MachineDescription>> {
  const { rows } = await sql<DescribedRow>`
    with ${promisedOn(ids)}
    select machines.*, coalesce(promised.bytes, 0) as promised_disk_bytes, (
      select gpu.facts from devices as gpu where gpu.machine_id = machines.id and gpu.kind = 'gpu'
      order by gpu.is_present desc, gpu.position limit 1
    ) as gpu_facts,
    (select count(*)::integer from devices where machine_id = machines.id and is_present) as present_count
    from machines left join promised on promised.machine_id = machines.id
    where machines.id = any(${ids}::integer[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, toDescription(row)]));
}

/**
 * Machines as the schedule needs them, without the columns that are slow to read: a rental reads its machine while it
 * holds the machine's lock.
 */
export async function listScheduledMachines(
  db: Reader,
  ids: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, ScheduledMachine>> {
  const { rows } = await sql<ScheduledRow>`
    with ${promisedOn(ids)}, present as materialized (
      select machine_id, array_agg(id order by position, id) as device_ids,
        array_agg(is_present and is_healthy order by position, id) as device_usable,
        count(*) filter (where is_present)::integer as present_count,
        min(concat(facts ->> 'name', ' ', facts ->> 'memory_mb', ' MB')) filter (where is_present and kind = 'gpu')
          as gpu_model
      from devices where machine_id = any(${ids}::integer[])
      group by machine_id
    )
    select id, host_id, engine_kind, resource_type, verification, hosting_type, reliability_ppm, rests_until_at, is_listed,
      is_connected, coalesce(promised.bytes, 0) as promised_disk_bytes, price_device_nanos_per_hour,
      price_min_bid_nanos_per_hour, price_disk_nanos_per_gb_month, price_inet_up_nanos_per_gb,
      price_inet_down_nanos_per_gb, min_chunk, credit_discount_max_permille, offer_end_at, last_seen_at, created_at,
      (facts -> 'disk_bytes')::bigint as disk_bytes, concat_ws(
        ', ', present.gpu_model, concat('devices: ', coalesce(present.present_count, 0)),
        concat('cores: ', facts ->> 'cpu_cores'), right(facts ->> 'geolocation', 2)
      ) as hardware, present.device_ids, present.device_usable,
      coalesce(present.present_count, 0) as present_count
    from machines
    left join promised on promised.machine_id = machines.id
    left join present on present.machine_id = machines.id
    where id = any(${ids}::integer[])
    order by id
  `.execute(db);
  return new Map(rows.map((row) => [row.id, toScheduled(row)]));
}

// A machine without devices has null instead of arrays.
type DeviceColumns = {
  readonly device_ids: readonly DeviceId[] | null;
  readonly device_usable: readonly boolean[] | null;
  readonly present_count: number;
};
type Promised = { readonly promised_disk_bytes: bigint };
type DescribedRow = Selectable<MachinesTable> &
  Promised & { readonly gpu_facts: unknown; readonly present_count: number };
type MachineRow = DescribedRow &
  DeviceColumns & {
    readonly device_uuids: readonly string[] | null;
    readonly device_kinds: readonly Device["kind"][] | null;
    readonly device_positions: readonly number[] | null;
    readonly device_present: readonly boolean[] | null;
  };
type ScheduledRow = Omit<Selectable<MachinesTable>, "facts"> &
  Promised &
  DeviceColumns & { readonly disk_bytes: bigint; readonly hardware: string };

function toDescription(row: DescribedRow): MachineDescription {
  const gpu = row.resource_type === "gpu" && row.gpu_facts !== null ? readGpuFacts(row.gpu_facts) : undefined;
  return { ...commonOf(row), facts: readMachineFacts(row.facts), gpu };
}

function toMachine(row: MachineRow): Machine {
  const description = toDescription(row);
  const devices = (row.device_ids ?? []).map((id, index): Device => {
    const kind = row.device_kinds?.[index] ?? "gpu";
    return {
      id,
      uuid: row.device_uuids?.[index] ?? "",
      kind,
      position: row.device_positions?.[index] ?? 0,
      gpu: kind === "gpu" ? description.gpu : undefined,
      isPresent: row.device_present?.[index] ?? false,
      isUsable: row.device_usable?.[index] ?? false,
    };
  });
  return { ...description, devices };
}

function toScheduled(row: ScheduledRow): ScheduledMachine {
  const devices = (row.device_ids ?? []).map((id, index) => ({ id, isUsable: row.device_usable?.[index] ?? false }));
  return { ...commonOf(row), facts: { disk_bytes: Number(row.disk_bytes) }, hardware: row.hardware, devices };
}

function commonOf(
  row: Omit<ScheduledRow, "disk_bytes" | "hardware" | keyof DeviceColumns> & Pick<DeviceColumns, "present_count">,
) {
  return {
    id: row.id,
    hostId: row.host_id,
    engineKind: row.engine_kind,
    resourceType: row.resource_type,
    verification: row.verification,
    hostingType: row.hosting_type,
    reliabilityPpm: row.reliability_ppm,
    restsUntilAt: row.rests_until_at ?? undefined,
    isListed: row.is_listed,
    isConnected: row.is_connected,
    promisedDiskBytes: row.promised_disk_bytes,
    presentCount: row.present_count,
    priceDeviceNanosPerHour: nanos(row.price_device_nanos_per_hour),
    priceMinBidNanosPerHour: nanos(row.price_min_bid_nanos_per_hour),
    priceDiskNanosPerGbMonth: nanos(row.price_disk_nanos_per_gb_month),
    priceInetUpNanosPerGb: nanos(row.price_inet_up_nanos_per_gb),
    priceInetDownNanosPerGb: nanos(row.price_inet_down_nanos_per_gb),
    minChunk: row.min_chunk,
    creditDiscountMaxPermille: row.credit_discount_max_permille,
    offerEndAt: row.offer_end_at,
    lastSeenAt: row.last_seen_at,
    createdAt: row.created_at,
  };
}
