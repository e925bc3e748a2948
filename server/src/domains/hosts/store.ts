import { sql } from "kysely";
import type { Hello } from "../../../../protocol/index.ts";
import type { AgentCredentialId, DeviceId, MachineId, UserId } from "../../base/ids.ts";
import { nanos } from "../../base/money.ts";
import type { Reader, Tx } from "../../db/transaction.ts";
import type { Listing } from "./listing.ts";
import { readGpuFacts, readMachineFacts, type Device, type Machine } from "./machine.ts";

export type Credential = { readonly id: AgentCredentialId; readonly userId: UserId; readonly isTrusted: boolean };

export async function findCredential(db: Reader, tokenSha256: Buffer): Promise<Credential | undefined> {
  const row = await db
    .selectFrom("agent_credentials")
    .select(["id", "user_id", "is_trusted"])
    .where("token_sha256", "=", tokenSha256)
    .where("revoked_at", "is", null)
    .executeTakeFirst();
  return row && { id: row.id, userId: row.user_id, isTrusted: row.is_trusted };
}

export async function insertCredential(
  tx: Tx,
  { userId, name, tokenSha256, isTrusted }: { userId: UserId; name: string; tokenSha256: Buffer; isTrusted: boolean },
): Promise<AgentCredentialId> {
  const row = await tx.db
    .insertInto("agent_credentials")
    .values({ user_id: userId, name, token_sha256: tokenSha256, is_trusted: isTrusted, created_at: tx.now })
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
): Promise<{ readonly id: MachineId; readonly bootId: string } | undefined> {
  const row = await tx.db
    .selectFrom("machines")
    .select(["id", "boot_id"])
    .where("agent_credential_id", "=", credentialId)
    .where("host_key", "=", hostKey)
    .forUpdate()
    .executeTakeFirst();
  return row && { id: row.id, bootId: row.boot_id };
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
      is_listed: credential.isTrusted,
      price_device_nanos_per_hour: listing.priceDeviceNanosPerHour,
      price_min_bid_nanos_per_hour: listing.priceMinBidNanosPerHour,
      price_disk_nanos_per_gb_month: listing.priceDiskNanosPerGbMonth,
      price_inet_up_nanos_per_gb: listing.priceInetUpNanosPerGb,
      price_inet_down_nanos_per_gb: listing.priceInetDownNanosPerGb,
      min_chunk: listing.minChunk,
      credit_discount_max_permille: listing.creditDiscountMaxPermille,
      offer_end_at: listing.offerEndAt,
      created_at: tx.now,
    })
    .returning("id")
    .executeTakeFirstOrThrow();
  return row.id;
}

export async function updateMachine(tx: Tx, id: MachineId, hello: Hello, leaseUntil: Date): Promise<void> {
  await tx.db
    .updateTable("machines")
    .set(presence(hello, tx.now, leaseUntil))
    .where("id", "=", id)
    .execute();
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
    .where("uuid", "not in", uuids)
    .execute();
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

export async function setConnected(tx: Tx, id: MachineId, isConnected: boolean): Promise<void> {
  await tx.db.updateTable("machines").set({ is_connected: isConnected }).where("id", "=", id).execute();
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
  const among = ids === undefined ? sql<boolean>`true` : sql<boolean>`machines.id = any(${ids}::integer[])`;
  const rows = await db.selectFrom("machines").selectAll().where(among).orderBy("id").execute();
  const deviceRows = await db
    .selectFrom("devices")
    .innerJoin("machines", "machines.id", "devices.machine_id")
    .selectAll("devices")
    .where(among)
    .orderBy("devices.machine_id")
    .orderBy("devices.position")
    .execute();
  const devices = Map.groupBy(deviceRows, (row) => row.machine_id);
  return new Map(rows.map((row) => [row.id, toMachine(row, (devices.get(row.id) ?? []).map(toDevice))]));
}

type DeviceRow = {
  id: DeviceId;
  uuid: string;
  kind: "gpu" | "cpu_core";
  position: number;
  facts: unknown;
  is_present: boolean;
  is_healthy: boolean;
};

function toDevice(row: DeviceRow): Device {
  const { id, uuid, kind, position } = row;
  const gpu = kind === "gpu" ? readGpuFacts(row.facts) : undefined;
  return { id, uuid, kind, position, gpu, isUsable: row.is_present && row.is_healthy };
}

type MachineRow = Awaited<ReturnType<typeof selectMachine>>;
// Only its type is used: the row that `selectAll` yields.
const selectMachine = (db: Reader) => db.selectFrom("machines").selectAll().executeTakeFirstOrThrow();

function toMachine(row: MachineRow, devices: readonly Device[]): Machine {
  return {
    id: row.id,
    hostId: row.host_id,
    engineKind: row.engine_kind,
    resourceType: row.resource_type,
    verification: row.verification,
    isListed: row.is_listed,
    isConnected: row.is_connected,
    facts: readMachineFacts(row.facts),
    devices,
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
