import { sql } from "kysely";
import type { GpuHealth } from "../../../../../../protocol/index.ts";
import type { DeviceId, MachineId } from "../../../../base/ids.ts";
import type { Reader, Tx } from "../../../../db/transaction.ts";

export type ReportedHealth = { readonly machineId: MachineId; readonly gpus: readonly GpuHealth[] };

/**
 * Stores reported GPU health, with an event for each GPU that became sick or well; GPUs that a report leaves out stay
 * as they are. Returns the machines that changed. The caller holds their row locks.
 */
export async function updateHealth(tx: Tx, reported: readonly ReportedHealth[]): Promise<readonly MachineId[]> {
  const said = reported.flatMap(({ machineId, gpus }) => gpus.map((gpu) => ({ ...gpu, machineId })));
  if (said.length === 0) return [];
  const { rows } = await sql<{ machine_id: MachineId }>`
    with seen as (
      select devices.id, devices.machine_id, devices.is_healthy as was_healthy, said.is_healthy, said.reason
      from unnest(
        ${said.map((gpu) => gpu.machineId)}::integer[], ${said.map((gpu) => plain(gpu.uuid))}::text[],
        ${said.map((gpu) => gpu.is_healthy)}::boolean[], ${said.map(reasonOf)}::text[]
      ) as said (machine_id, uuid, is_healthy, reason)
      join devices on devices.machine_id = said.machine_id and devices.uuid = said.uuid and devices.kind = 'gpu'
      where (devices.is_healthy, devices.health_reason) is distinct from (said.is_healthy, said.reason)
    ), changed as (
      update devices set is_healthy = seen.is_healthy, health_reason = seen.reason from seen where devices.id = seen.id
    ), noted as (
      insert into device_events (device_id, at, is_healthy, reason)
      select id, ${tx.now}::timestamptz, is_healthy, reason from seen where is_healthy <> was_healthy
    )
    select distinct machine_id from seen order by machine_id
  `.execute(tx.db);
  return rows.map((row) => row.machine_id);
}

/** A sick GPU stays sick without a reason; a healthy GPU needs none. */
function reasonOf({ is_healthy: isHealthy, reason }: GpuHealth): string {
  return isHealthy ? "" : plain(reason) || "its host gives no reason";
}

/** PostgreSQL stores no text with a zero byte. */
function plain(text: string): string {
  return text.replaceAll("\0", "");
}

/** Problems of the GPUs of these machines, by device; healthy GPUs are left out. */
export async function listDeviceProblems(
  db: Reader,
  machineIds: readonly MachineId[],
): Promise<ReadonlyMap<DeviceId, string>> {
  const rows = await db
    .selectFrom("devices")
    .select(["id", "position", "is_present", "health_reason"])
    .where("machine_id", "=", sql<MachineId>`any(${machineIds}::integer[])`)
    .where("kind", "=", "gpu")
    .where(sql<boolean>`not (is_present and is_healthy)`)
    .execute();
  return new Map(
    rows.map((row) => [
      row.id,
      row.is_present
        ? `GPU ${row.position}: ${row.health_reason}`
        : `GPU ${row.position}: its machine does not have it now`,
    ]),
  );
}

type DeviceCounts = Readonly<Record<"healthy" | "sick" | "absent", number>>;

/** All GPUs of the market by health. */
export async function countGpus(db: Reader): Promise<DeviceCounts> {
  const { rows } = await sql<DeviceCounts>`
    select count(*) filter (where is_present and is_healthy)::integer as healthy,
      count(*) filter (where is_present and not is_healthy)::integer as sick,
      count(*) filter (where not is_present)::integer as absent
    from devices where kind = 'gpu'
  `.execute(db);
  return rows[0] ?? { healthy: 0, sick: 0, absent: 0 };
}

/** GPUs of the machines that are connected now. */
export async function countConnectedGpus(db: Reader): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from devices join machines on machines.id = devices.machine_id
    where devices.kind = 'gpu' and devices.is_present and machines.is_connected
  `.execute(db);
  return rows[0]?.count ?? 0;
}

/** Number of times that GPUs became sick. */
export async function countGpuFailures(db: Reader): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::integer as count from device_events where not is_healthy
  `.execute(db);
  return rows[0]?.count ?? 0;
}
