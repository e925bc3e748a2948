import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { GpuFacts, Hello, MachineFacts } from "../../../protocol/index.ts";
import { asId, type InstanceId, type MachineId, type UserId } from "../../../server/src/base/ids.ts";
import type { Tx } from "../../../server/src/db/transaction.ts";
import { registerMachine } from "../../../server/src/domains/supply/hosts/index.ts";
import { insertCredential } from "../../../server/src/domains/supply/hosts/store.ts";
import { refreshOffers } from "../../../server/src/domains/supply/market/index.ts";

export const FACTS: MachineFacts = {
  hostname: "host",
  is_simulated: true,
  cpu_name: "Test CPU",
  cpu_arch: "amd64",
  cpu_cores: 4,
  cpu_ghz: 3,
  has_avx: true,
  memory_bytes: 16_000_000_000,
  disk_bytes: 500_000_000_000,
  disk_name: "Test disk",
  disk_mb_per_s: 1000,
  inet_up_mbps: 500,
  inet_down_mbps: 1000,
  public_ipaddr: "192.0.2.1",
  has_static_ip: true,
  direct_port_start: 40000,
  direct_port_end: 40999,
  geolocation: "Oslo, NO",
  os_version: "22.04",
  kernel_version: "6.8",
  mobo_name: "Test board",
  pci_gen: 4,
  pcie_gb_per_s: 20,
  driver_version: "535.86.05",
  cuda_max_good: 12.8,
};

/** A connected, listed, verified machine of this host. Without GPUs its four cores are what it rents out. */
export async function aMachine(
  tx: Tx,
  hostId: UserId,
  facts: Partial<MachineFacts> = {},
  gpus: readonly GpuFacts[] = [],
): Promise<MachineId> {
  const credential = { userId: hostId, name: randomUUID(), tokenSha256: Buffer.from(randomUUID()), isTrusted: true };
  const id = await insertCredential(tx, credential);
  const hello: Hello = {
    kind: "hello",
    protocol_version: 2,
    agent_version: "1",
    host_key: randomUUID(),
    boot_id: "boot",
    fingerprint: "fingerprint",
    session_proof: "",
    engine: { kind: "simulated", version: "1" },
    machine: { ...FACTS, ...facts },
    gpus: [...gpus],
  };
  return (await registerMachine(tx, { id, userId: hostId, isTrusted: true }, hello)).machineId;
}

/** Round prices in place of those that follow from the model of the GPUs, so that tests can name them. */
export async function setPlainTerms(tx: Tx, machineId: MachineId): Promise<void> {
  await sql`
    update machines set price_device_nanos_per_hour = 300000000, price_min_bid_nanos_per_hour = 150000000,
      price_disk_nanos_per_gb_month = 150000000, price_inet_up_nanos_per_gb = 2000000,
      price_inet_down_nanos_per_gb = 2000000, min_chunk = 1, credit_discount_max_permille = 400, offer_end_at = ${new Date(tx.now.getTime() + LISTED_MS)}
    where id = ${machineId} and resource_type = 'gpu'
  `.execute(tx.db);
  await refreshOffers(tx, [machineId]);
}

const LISTED_MS = 90 * 86_400_000;

/** An instance as a bare row, for rows that refer to one: it has no run and no GPU grant. */
export async function anInstanceRow(tx: Tx, userId: UserId, machineId: MachineId): Promise<InstanceId> {
  const { rows } = await sql<{ id: number }>`
    with offer as (
      insert into offers (machine_id, device_count, created_at, retired_at)
      values (${machineId}, 1, ${tx.now}, ${tx.now}) returning id
    ), made as (
    insert into instances (
      user_id, machine_id, offer_id, is_bid, price_nanos_per_hour, storage_nanos_per_gb_month, inet_up_nanos_per_gb,
      inet_down_nanos_per_gb, device_count, disk_bytes, launch, desired, phase, phase_cause, phase_since_at, created_at,
      end_at
    )
    select ${userId}, ${machineId}, id, false, 0, 0, 0, 0, 1, 1, '{}', 'running', 'scheduled', 'test', ${tx.now},
      ${tx.now}, ${tx.now}
    from offer returning id, user_id
    )
    insert into instance_tabs (instance_id, user_id) select id, user_id from made returning instance_id as id
  `.execute(tx.db);
  const [row] = rows;
  if (row === undefined) throw new Error("no instance was made");
  return asId<InstanceId>(row.id);
}
