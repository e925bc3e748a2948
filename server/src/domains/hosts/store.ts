import { sql, type Selectable } from "kysely";
import type { Hello } from "../../../../protocol/index.ts";
import type { AgentCredentialId, DeviceId, MachineId, UserId } from "../../base/ids.ts";
import { nanos } from "../../base/money.ts";
import type { MachinesTable } from "../../db/tables.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { Joiner } from "./join-store.ts";
import type { Listing } from "./listing.ts";
import {
  readGpuFacts,
  readMachineFacts,
  type Device,
  type Machine,
  type MachineDescription,
  type ScheduledMachine,
} from "./machine.ts";

export type Credential = {
  readonly id: AgentCredentialId;
  readonly userId: UserId;
  readonly isTrusted: boolean;
  /** The machine that it was made for; undefined for the agent that the server starts itself. */
  readonly joiner?: Joiner | undefined;
};

/** One connection of one machine. Only the newest of a machine counts. */
export type Registration = { readonly machineId: MachineId; readonly sessionNumber: number };

/** Whom a token stands for, even when it was revoked: its agent is told why it is not let in. */
export async function findCredential(
  db: Reader,
  tokenSha256: Buffer,
): Promise<(Credential & { readonly isRevoked: boolean }) | undefined> {
  const row = await db
    .selectFrom("agent_credentials")
    .select(["id", "user_id", "is_trusted", "fingerprint", "host_key", "revoked_at"])
    .where("token_sha256", "=", tokenSha256)
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { id, user_id: userId, is_trusted: isTrusted, fingerprint, host_key: hostKey } = row;
  const joiner = fingerprint === null || hostKey === null ? undefined : { fingerprint, hostKey };
  return { id, userId, isTrusted, joiner, isRevoked: row.revoked_at !== null };
}

export async function insertCredential(
  tx: Tx,
  credential: { userId: UserId; name: string; tokenSha256: Buffer; isTrusted: boolean } & Partial<Joiner>,
): Promise<AgentCredentialId> {
  const { userId, name, tokenSha256, isTrusted, fingerprint = null, hostKey = null } = credential;
  const joined = { fingerprint, host_key: hostKey };
  const row = await tx.db
    .insertInto("agent_credentials")
    .values({ user_id: userId, name, token_sha256: tokenSha256, is_trusted: isTrusted, created_at: tx.now, ...joined })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Gives the credential of this name a new token; undefined when there is none. Its machines stay its machines. */
export async function replaceCredentialToken(
  tx: Tx,
  { userId, name, tokenSha256 }: { userId: UserId; name: string; tokenSha256: Buffer },
): Promise<AgentCredentialId | undefined> {
  const row = await tx.db
    .updateTable("agent_credentials")
    .set({ token_sha256: tokenSha256 })
    .where("user_id", "=", userId)
    .where("name", "=", name)
    .where("fingerprint", "is", null)
    .where("revoked_at", "is", null)
    .returning("id")
    .executeTakeFirst();
  return row?.id;
}

/** Locks the machine of this host key, if the credential ever brought it up. */
export async function findMachineForUpdate(
  tx: Tx,
  credentialId: AgentCredentialId,
  hostKey: string,
): Promise<{ readonly id: MachineId; readonly resourceType: "gpu" | "cpu" } | undefined> {
  const row = await tx.db
    .selectFrom("machines")
    .select(["id", "resource_type"])
    .where("agent_credential_id", "=", credentialId)
    .where("host_key", "=", hostKey)
    .forUpdate()
    .executeTakeFirst();
  return row && { id: row.id, resourceType: row.resource_type };
}

export async function insertMachine(
  tx: Tx,
  {
    credential,
    hello,
    listing,
    leaseUntil,
  }: {
    credential: Credential;
    hello: Hello;
    listing: Listing;
    leaseUntil: Date;
  },
): Promise<MachineId> {
  const row = await tx.db
    .insertInto("machines")
    .values({
      host_id: credential.userId,
      agent_credential_id: credential.id,
      host_key: hello.host_key,
      ...presence(hello, tx.now, leaseUntil),
      resource_type: hello.gpus.length > 0 ? "gpu" : "cpu",
      verification: credential.isTrusted ? "verified" : "unverified",
      // Who joins wants to rent out; until somebody vouches for it, it says that it is not verified.
      is_listed: true,
      ...terms(listing),
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

/** Notes what a machine says of itself now, and counts the connection; returns its number. */
export async function updateMachine(tx: Tx, id: MachineId, hello: Hello, leaseUntil: Date): Promise<number> {
  const row = await tx.db
    .updateTable("machines")
    .set((eb) => ({ ...presence(hello, tx.now, leaseUntil), session_number: eb("session_number", "+", 1) }))
    .where("id", "=", id)
    .returning("session_number")
    .executeTakeFirstOrThrow();
  return row.session_number;
}

/** A machine without GPUs got some: what it asks for a core is no price for them. */
export async function turnIntoGpuMachine(tx: Tx, id: MachineId, listing: Listing): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({ resource_type: "gpu", ...terms(listing) })
    .where("id", "=", id)
    .execute();
}

function terms(listing: Listing) {
  return {
    price_device_nanos_per_hour: listing.priceDeviceNanosPerHour,
    price_min_bid_nanos_per_hour: listing.priceMinBidNanosPerHour,
    price_disk_nanos_per_gb_month: listing.priceDiskNanosPerGbMonth,
    price_inet_up_nanos_per_gb: listing.priceInetUpNanosPerGb,
    price_inet_down_nanos_per_gb: listing.priceInetDownNanosPerGb,
    min_chunk: listing.minChunk,
    credit_discount_max_permille: listing.creditDiscountMaxPermille,
    offer_end_at: listing.offerEndAt,
  };
}

function presence(hello: Hello, now: Date, leaseUntil: Date) {
  return {
    boot_id: hello.boot_id,
    agent_version: hello.agent_version,
    engine_kind: hello.engine.kind,
    engine_version: hello.engine.version,
    facts: JSON.stringify(hello.machine),
    is_connected: true,
    last_seen_at: now,
    lease_until_at: leaseUntil,
  };
}

/**
 * Makes the machine's devices the given ones: those that are gone stay known as absent, since a lease may name them.
 * Returns false when one of them belongs to another machine.
 */
export async function replaceDevices(
  tx: Tx,
  machineId: MachineId,
  devices: readonly { uuid: string; kind: "gpu" | "cpu_core"; position: number; facts: unknown }[],
): Promise<boolean> {
  const uuids = devices.map((device) => device.uuid);
  await tx.db
    .updateTable("devices")
    .set({ is_present: false })
    .where("machine_id", "=", machineId)
    .where(sql<boolean>`uuid <> all(${uuids}::text[])`)
    .execute();
  if (devices.length === 0) return true;
  const stored = await tx.db
    .insertInto("devices")
    .values(
      devices.map(({ uuid, kind, position, facts }) => ({
        machine_id: machineId,
        uuid,
        kind,
        position,
        facts: JSON.stringify(facts),
      })),
    )
    .onConflict((oc) =>
      oc
        .column("uuid")
        .doUpdateSet((eb) => ({
          position: eb.ref("excluded.position"),
          facts: eb.ref("excluded.facts"),
          is_present: true,
        }))
        .where("devices.machine_id", "=", machineId),
    )
    .returning("id")
    .execute();
  return stored.length === devices.length;
}

/** Extends the leases of machines that reported; one statement for a whole batch. */
export async function touchMachines(tx: Tx, ids: readonly MachineId[], leaseUntil: Date): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set({ last_seen_at: tx.now, lease_until_at: leaseUntil })
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .execute();
}

/** Notes the end of a connection; false when the machine has connected anew since, here or to another process. */
export async function markDisconnected(tx: Tx, { machineId, sessionNumber }: Registration): Promise<boolean> {
  const result = await tx.db
    .updateTable("machines")
    .set({ is_connected: false })
    .where("id", "=", machineId)
    .where("session_number", "=", sessionNumber)
    .executeTakeFirst();
  return result.numUpdatedRows === 1n;
}

/** After a start of the server no agent is connected, whatever was true when it stopped. */
export async function disconnectAll(tx: Tx): Promise<void> {
  await tx.db.updateTable("machines").set({ is_connected: false }).where("is_connected", "=", true).execute();
}

/** Machines that are away for longer than their agents may run anything. */
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

/** Locks machines in id order: whoever changes what runs on a machine holds its row. */
export async function lockMachines(tx: Tx, ids: readonly MachineId[]): Promise<void> {
  await tx.db
    .selectFrom("machines")
    .select("id")
    .where("id", "=", sql<MachineId>`any(${ids}::integer[])`)
    .orderBy("id")
    .forUpdate()
    .execute();
}

/** Machines with their devices, by id; all of them when `ids` is undefined. */
export async function listMachines(db: Reader, ids?: readonly MachineId[]): Promise<ReadonlyMap<MachineId, Machine>> {
  const among = ids === undefined ? sql`true` : sql`machines.id = any(${ids}::integer[])`;
  const { rows } = await sql<MachineRow>`
    select machines.*, d.*, (
      select gpu.facts from devices as gpu where gpu.machine_id = machines.id and gpu.kind = 'gpu'
      order by gpu.is_present desc, gpu.position limit 1
    ) as gpu_facts
    from machines cross join lateral (
      select array_agg(id) as device_ids, array_agg(uuid) as device_uuids, array_agg(kind) as device_kinds,
        array_agg(position) as device_positions, array_agg(is_present) as device_present,
        array_agg(is_present and is_healthy) as device_usable, count(*) filter (where is_present)::integer as present_count
      from (select * from devices where machine_id = machines.id order by position, id) as ordered
    ) as d
    where ${among}
    order by machines.id
  `.execute(db);
  return new Map(rows.map((row) => [row.id, toMachine(row)]));
}

/** The same without the devices one by one. */
export async function describeMachines(
  db: Reader,
  ids: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, MachineDescription>> {
  const { rows } = await sql<DescribedRow>`
    select machines.*, (
      select gpu.facts from devices as gpu where gpu.machine_id = machines.id and gpu.kind = 'gpu'
      order by gpu.is_present desc, gpu.position limit 1
    ) as gpu_facts,
    (select count(*)::integer from devices where machine_id = machines.id and is_present) as present_count
    from machines
    where machines.id = any(${ids}::integer[])
  `.execute(db);
  return new Map(rows.map((row) => [row.id, toDescription(row)]));
}

/** The same for the schedule, without what costs most to read: a rental reads its machine while it holds its lock. */
export async function listScheduledMachines(
  db: Reader,
  ids: readonly MachineId[],
): Promise<ReadonlyMap<MachineId, ScheduledMachine>> {
  const { rows } = await sql<ScheduledRow>`
    select id, host_id, engine_kind, resource_type, verification, is_listed, is_connected, price_device_nanos_per_hour,
      price_min_bid_nanos_per_hour, price_disk_nanos_per_gb_month, price_inet_up_nanos_per_gb,
      price_inet_down_nanos_per_gb, min_chunk, credit_discount_max_permille, offer_end_at, last_seen_at, created_at,
      (facts -> 'disk_bytes')::bigint as disk_bytes, d.*
    from machines cross join lateral (
      select array_agg(id) as device_ids, array_agg(is_present and is_healthy) as device_usable,
        count(*) filter (where is_present)::integer as present_count
      from (select * from devices where machine_id = machines.id order by position, id) as ordered
    ) as d
    where id = any(${ids}::integer[])
    order by id
  `.execute(db);
  return new Map(rows.map((row) => [row.id, toScheduled(row)]));
}

// A machine without devices has null in place of the arrays.
type DeviceColumns = {
  readonly device_ids: readonly DeviceId[] | null;
  readonly device_usable: readonly boolean[] | null;
  readonly present_count: number;
};
type DescribedRow = Selectable<MachinesTable> & { readonly gpu_facts: unknown; readonly present_count: number };
type MachineRow = DescribedRow &
  DeviceColumns & {
    readonly device_uuids: readonly string[] | null;
    readonly device_kinds: readonly Device["kind"][] | null;
    readonly device_positions: readonly number[] | null;
    readonly device_present: readonly boolean[] | null;
  };
type ScheduledRow = Omit<Selectable<MachinesTable>, "facts"> & DeviceColumns & { readonly disk_bytes: bigint };

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
  return { ...commonOf(row), facts: { disk_bytes: Number(row.disk_bytes) }, devices };
}

function commonOf(row: Omit<ScheduledRow, "disk_bytes" | keyof DeviceColumns> & Pick<DeviceColumns, "present_count">) {
  return {
    id: row.id,
    hostId: row.host_id,
    engineKind: row.engine_kind,
    resourceType: row.resource_type,
    verification: row.verification,
    isListed: row.is_listed,
    isConnected: row.is_connected,
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
