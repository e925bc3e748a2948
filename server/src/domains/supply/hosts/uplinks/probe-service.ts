import type { Tx } from "../../../../db/transaction.ts";
import { flagHost } from "../flags/service.ts";
import { findCarried, findMeasuredUplink, insertUplinkProbe, type UplinkProbe } from "./probe-store.ts";
import { listHostIds } from "../machines/owner-store.ts";
import { slowDirections } from "./slow-uplink.ts";
import { listUplinks } from "../presence/span-store.ts";

/** Stores a measurement of a machine's uplink, and flags its host when it contradicts the declared speed by far. */
export async function storeUplinkProbe(tx: Tx, probe: UplinkProbe): Promise<{ readonly isSlow: boolean }> {
  const { machineId, measuredFrom, speed } = probe;
  await insertUplinkProbe(tx, probe);
  const hostId = (await listHostIds(tx.db, [machineId])).get(machineId);
  const declared = (await listUplinks(tx.db, [machineId])).get(machineId);
  if (speed === undefined || hostId === undefined || declared === undefined) return { isSlow: false };
  const measured = await findMeasuredUplink(tx.db, machineId, { now: tx.now, measuredFrom });
  const carried = await findCarried(tx.db, { now: tx.now, measuredFrom, otherThan: hostId });
  const [slow] = slowDirections(declared, measured, carried);
  if (slow === undefined) return { isSlow: false };
  const { direction, declaredMbps, measuredMbps, carriedMbps } = slow;
  await flagHost(tx, {
    hostId,
    machineId,
    kind: "slow_line",
    detail: `Machine ${machineId} declares ${Math.round(declaredMbps)} Mbit/s ${direction}; the server measured ${measuredMbps.toFixed(1)} Mbit/s at best within a week, and carried ${Math.round(carriedMbps)} with other hosts. Declare the true speed of the uplink.`,
    facts: {
      direction,
      declared_mbps: declaredMbps,
      measured_mbps: measuredMbps,
      carried_mbps: carriedMbps,
      probes: measured?.probeCount ?? 0,
    },
  });
  return { isSlow: true };
}
