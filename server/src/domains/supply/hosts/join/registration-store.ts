import { sql } from "kysely";
import type { Hello } from "../../../../../../protocol/index.ts";
import type { AgentCredentialId, MachineId, ServerId } from "../../../../base/ids.ts";
import { insertRows, toJsonRows } from "../../../../db/insert-rows.ts";
import type { Tx } from "../../../../db/transaction.ts";
import type { Listing } from "../terms/rules/listing.ts";
import type { KnownProofs } from "../sessions/rules/session-proof.ts";
import type { Credential, Registration } from "../store.ts";

/** A machine whose agent has sent its hello. */
export type Arrival = {
  readonly credential: Credential;
  readonly hello: Hello;
  /** The source address of the connection; absent in tests that do not need it. */
  readonly address?: string;
};

/** The server that has an agent's connection, and the end of the heartbeat lease that the connection begins. */
export type Place = { readonly serverId: ServerId | undefined; readonly leaseUntil: Date };

/** The stored row of a machine that connected before. */
export type KnownMachine = {
  readonly id: MachineId;
  readonly resourceType: "gpu" | "cpu";
  readonly isDeleted: boolean;
  readonly proofs: KnownProofs;
  /** The server that has its present connection; null while it is not connected. */
  readonly serverId: ServerId | null;
};

/** True for a simulated machine. The container engine decides, not the machine's description of itself. */
export function isSimulated({ engine }: Pick<Hello, "engine">): boolean {
  return engine.kind === "simulated";
}

/** The name of a machine: its agent's credential and the key that the agent gives it. */
export function nameOf({ credential, hello }: Arrival): string {
  return nameFrom(credential.id, hello.host_key);
}

function nameFrom(credentialId: AgentCredentialId, hostKey: string): string {
  return `${credentialId} ${hostKey}`;
}

/** Locks, in id order, the stored machines among these arrivals; keyed by name. */
export async function lockKnownMachines(
  tx: Tx,
  arrivals: readonly Arrival[],
): Promise<ReadonlyMap<string, KnownMachine>> {
  const { rows } = await sql<{
    id: MachineId;
    agent_credential_id: AgentCredentialId;
    host_key: string;
    resource_type: "gpu" | "cpu";
    deleted_at: Date | null;
    proof_sha256: Buffer | null;
    previous_proof_sha256: Buffer | null;
    session_number: number;
    server_id: ServerId | null;
  }>`
    select machines.id, machines.agent_credential_id, machines.host_key, resource_type, deleted_at, proof_sha256,
      previous_proof_sha256, session_number, server_id
    from unnest(
      ${arrivals.map(({ credential }) => credential.id)}::integer[],
      ${arrivals.map(({ hello }) => hello.host_key)}::text[]
    ) as named (agent_credential_id, host_key)
    join machines using (agent_credential_id, host_key)
    order by machines.id
    for update of machines
  `.execute(tx.db);
  return new Map(
    rows.map((row) => [
      nameFrom(row.agent_credential_id, row.host_key),
      {
        id: row.id,
        resourceType: row.resource_type,
        isDeleted: row.deleted_at !== null,
        serverId: row.server_id,
        proofs: {
          proofSha256: row.proof_sha256,
          previousProofSha256: row.previous_proof_sha256,
          sessionNumber: row.session_number,
        },
      },
    ]),
  );
}

export type NewMachine = Arrival & { readonly listing: Listing };

/** Inserts machines that connect for the first time; returns their ids by name. */
export async function insertMachines(
  tx: Tx,
  machines: readonly NewMachine[],
  place: Place,
): Promise<ReadonlyMap<string, MachineId>> {
  if (machines.length === 0) return new Map();
  await insertRows(
    tx,
    "machines",
    machines.map(({ credential, hello, address, listing }) => ({
      host_id: credential.userId,
      agent_credential_id: credential.id,
      host_key: hello.host_key,
      ...presence(hello, { now: tx.now, address, place }),
      resource_type: hello.gpus.length > 0 ? "gpu" : "cpu",
      verification: credential.isTrusted ? "verified" : "unverified",
      // A machine that joins is listed at once and shown as unverified until it passes verification.
      is_listed: true,
      session_number: 0,
      ...terms(listing),
      created_at: tx.now,
    })),
  );
  return new Map([...(await lockKnownMachines(tx, machines))].map(([name, { id }]) => [name, id]));
}

export type ReturningMachine = { readonly id: MachineId; readonly hello: Hello; readonly address?: string };

/** Stores the machines' current descriptions of themselves and counts their connections. */
export async function updateMachines(
  tx: Tx,
  machines: readonly ReturningMachine[],
  place: Place,
): Promise<readonly Registration[]> {
  if (machines.length === 0) return [];
  const rows = machines.map(({ id, hello, address }) => ({
    id,
    ...presence(hello, { now: tx.now, address, place }),
  }));
  const { rows: updated } = await sql<{ id: MachineId; session_number: number }>`
    update machines set
      boot_id = said.boot_id, agent_version = said.agent_version, agent_update = said.agent_update, engine_kind = said.engine_kind,
      engine_version = said.engine_version, facts = said.facts, is_connected = true, server_id = said.server_id,
      agent_address = said.agent_address, proven_address = null,
      connected_at = said.connected_at, last_seen_at = greatest(machines.last_seen_at, said.last_seen_at), lease_until_at = said.lease_until_at,
      session_number = machines.session_number + 1
    from json_populate_recordset(null::machines, ${toJsonRows(rows)}::json) as said
    where machines.id = said.id
    returning machines.id, machines.session_number
  `.execute(tx.db);
  return updated.map((row) => ({ machineId: row.id, sessionNumber: row.session_number }));
}

/** A machine without GPUs has got some: its price per core is no price for a GPU. */
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
    offer_duration_s: listing.offerDurationS === undefined ? null : BigInt(listing.offerDurationS),
  };
}

function presence(
  hello: Hello,
  { now, address, place }: { readonly now: Date; readonly address: string | undefined; readonly place: Place },
) {
  return {
    server_id: place.serverId ?? null,
    agent_address: address ?? null,
    boot_id: hello.boot_id,
    agent_version: hello.agent_version,
    agent_update: hello.update_result ?? null,
    engine_kind: hello.engine.kind,
    engine_version: hello.engine.version,
    facts: { ...hello.machine, is_simulated: isSimulated(hello) },
    is_connected: true,
    connected_at: now,
    last_seen_at: now,
    lease_until_at: place.leaseUntil,
  };
}

/** A device that a machine reports as its own. */
export type SaidDevice = {
  readonly machineId: MachineId;
  readonly uuid: string;
  readonly kind: "gpu" | "cpu_core";
  readonly position: number;
  readonly facts: unknown;
};

/** True when one of these devices is stored as part of another machine. */
export async function isAnyDeviceTaken(tx: Tx, said: readonly SaidDevice[]): Promise<boolean> {
  const { rows } = await sql`
    select from unnest(
      ${said.map(({ machineId }) => machineId)}::integer[], ${said.map(({ uuid }) => uuid)}::text[]
    ) as said (machine_id, uuid)
    join devices on devices.uuid = said.uuid and devices.machine_id <> said.machine_id
    limit 1
  `.execute(tx.db);
  return rows.length > 0;
}

/**
 * Makes the devices of these machines equal to the given ones: missing devices stay stored as absent, since a GPU grant
 * may name them. Unchanged devices are not written.
 */
export async function replaceDevices(
  tx: Tx,
  machineIds: readonly MachineId[],
  said: readonly SaidDevice[],
): Promise<void> {
  await sql`
    update devices set is_present = false
    where machine_id = any(${machineIds}::integer[]) and is_present and not exists (
      select from unnest(
        ${said.map(({ machineId }) => machineId)}::integer[], ${said.map(({ uuid }) => uuid)}::text[]
      ) as said (machine_id, uuid)
      where said.machine_id = devices.machine_id and said.uuid = devices.uuid
    )
  `.execute(tx.db);
  if (said.length === 0) return;
  const rows = said.map(({ machineId, ...device }) => ({ machine_id: machineId, ...device }));
  await sql`
    insert into devices (machine_id, uuid, kind, position, facts)
    select machine_id, uuid, kind, position, facts
    from json_populate_recordset(null::devices, ${toJsonRows(rows)}::json)
    on conflict (uuid) do update
      set position = excluded.position, facts = excluded.facts, is_present = true
      where devices.machine_id = excluded.machine_id
        and (devices.position, devices.facts, devices.is_present)
          is distinct from (excluded.position, excluded.facts, true)
  `.execute(tx.db);
}
