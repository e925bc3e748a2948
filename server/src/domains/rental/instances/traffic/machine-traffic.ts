import type { MachineId } from "../../../../base/ids.ts";
import type { Tx } from "../../../../db/transaction.ts";
import { UPLINK_SLACK_BYTES, type Contradiction } from "../evidence/contradictions.ts";
import {
  addMachineTraffic,
  restartMachineTraffic,
  type MachineTraffic,
  type MovedBytes,
} from "./machine-traffic-store.ts";

/** Over shorter times late reports would weigh too much. */
const WINDOW_MS = 600_000;

/** The believed speed of a machine's uplink in bytes per millisecond. */
export type UplinkRate = { readonly receivedBytesPerMs: number; readonly sentBytesPerMs: number };

/**
 * Adds the newly reported bytes of each machine, and returns the machines whose containers together moved more than
 * their uplink carries. The caller holds the machines' locks.
 */
export async function watchMachineTraffic(
  tx: Tx,
  moved: ReadonlyMap<MachineId, MovedBytes>,
  rateOfMachine: (id: MachineId) => UplinkRate,
): Promise<readonly Contradiction[]> {
  const sums = await addMachineTraffic(tx, moved);
  const full = sums.filter(({ sinceAt }) => tx.now.getTime() - sinceAt.getTime() >= WINDOW_MS);
  await restartMachineTraffic(
    tx,
    full.map(({ machineId }) => machineId),
  );
  return full.flatMap((sum) => beyondUplinkTogether(sum, rateOfMachine(sum.machineId), tx.now) ?? []);
}

/**
 * A contradiction when the containers of a machine together moved more than its uplink carries; undefined otherwise.
 */
function beyondUplinkTogether(
  { machineId, sinceAt, receivedBytes, sentBytes }: MachineTraffic,
  { receivedBytesPerMs, sentBytesPerMs }: UplinkRate,
  now: Date,
): Contradiction | undefined {
  const windowMs = Math.max(0, now.getTime() - sinceAt.getTime());
  const carried = (bytesPerMs: number) => BigInt(Math.ceil(bytesPerMs)) * BigInt(windowMs) + UPLINK_SLACK_BYTES;
  const [received, sent] = [carried(receivedBytesPerMs), carried(sentBytesPerMs)];
  if (receivedBytes <= received && sentBytes <= sent) return undefined;
  return {
    machineId,
    kind: "traffic_beyond_line",
    detail: `The containers of machine ${machineId} are said to have moved more bytes together than its uplink carries.`,
    facts: {
      window_ms: windowMs,
      received_bytes: Number(receivedBytes),
      sent_bytes: Number(sentBytes),
      carried_received_bytes: Number(received),
      carried_sent_bytes: Number(sent),
    },
  };
}
