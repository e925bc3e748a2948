import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { listDeviceProblems } from "../../../supply/hosts/index.ts";
import { updateHealth, type ReportedHealth } from "../../../supply/hosts/for-instances.ts";
import { listLiveGpuGrants, refreshOffers } from "../../../supply/market/index.ts";
import { setDeviceProblems } from "./device-problem-store.ts";
import { insertEvents } from "../store.ts";
import { reschedule } from "./transitions.ts";

/**
 * Stores the hosts' reports on their GPUs, and their consequences, in the same transaction: a sick GPU is taken out of
 * the offers and given to nobody, its renter is notified, and a recovered one goes to the next claim. The caller holds
 * the locks of the machines.
 */
export async function recordHealth(tx: Tx, reported: readonly ReportedHealth[]): Promise<void> {
  const changedIds = await updateHealth(tx, reported);
  if (changedIds.length > 0) await followDevices(tx, changedIds);
}

/**
 * Handles devices that became sick or well, were removed or came back: events and notifications for their renters, then
 * the schedule and the offers. The caller holds the locks of the machines.
 */
export async function followDevices(tx: Tx, machineIds: readonly MachineId[]): Promise<void> {
  const grants = await listLiveGpuGrants(tx.db, machineIds);
  if (grants.length > 0) await tellRenters(tx, machineIds, grants);
  await reschedule(tx, machineIds);
  await refreshOffers(tx, machineIds);
}

async function tellRenters(
  tx: Tx,
  machineIds: readonly MachineId[],
  grants: Awaited<ReturnType<typeof listLiveGpuGrants>>,
): Promise<void> {
  const problems = await listDeviceProblems(tx.db, machineIds);
  const byInstance = new Map<InstanceId, string[]>();
  for (const { instanceId, deviceId } of grants) {
    const found = problems.get(deviceId);
    const known = byInstance.get(instanceId) ?? [];
    byInstance.set(instanceId, found === undefined ? known : [...known, found]);
  }
  const changed = await setDeviceProblems(
    tx,
    [...byInstance].map(([instanceId, found]) => ({ instanceId, problem: found.toSorted().join("; ") })),
  );
  const events = changed.filter(({ problem, hadProblem }) => hadProblem === (problem === ""));
  await insertEvents(
    tx,
    events.map(({ instanceId, machineId, phase, generation, problem }) => ({
      instanceId,
      actor: `host:${machineId}`,
      cause: problem === "" ? "gpu_healthy" : "gpu_unhealthy",
      from: phase,
      to: phase,
      generation,
    })),
  );
}
