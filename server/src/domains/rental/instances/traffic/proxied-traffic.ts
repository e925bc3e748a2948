import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Contradiction } from "../evidence/contradictions.ts";

/**
 * The time after the proxied bytes at which a host's count may be compared with them. An agent samples traffic up to
 * one heartbeat before its report, and a heartbeat is at most 150 s long.
 */
export const COUNTED_LATER_MS = 300_000;
/**
 * A connection that opened within this time of a run's beginning may belong to the run before it, because the clocks of
 * two servers differ.
 */
export const OPENED_LATER_MS = 10_000;
/** Bytes lost between two samples when a container starts again within its run, as after a lost heartbeat lease. */
const LOST_BYTES = 1_000_000_000n;
const LOST_SHARE = 10n;

/** A run with the bytes that it sent through the proxy, and its host's count well after that. */
export type ProxiedRun = {
  readonly instanceId: InstanceId;
  readonly machineId: MachineId;
  readonly startedAt: Date;
  readonly countedAt: Date;
  readonly proxiedBytes: bigint;
  /** The host's count, at most what the machine's declared uplink carries. */
  readonly heardSentBytes: bigint;
};

/**
 * A contradiction when the host counts fewer bytes sent than the server itself got from the container. Containers send
 * them through their network interface, which counts headers in addition, so an honest count is never lower.
 */
export function belowProxied(run: ProxiedRun, sentBytesPerMs: number): Contradiction | undefined {
  const { instanceId, machineId, startedAt, countedAt, proxiedBytes, heardSentBytes } = run;
  const aliveMs = BigInt(Math.max(0, countedAt.getTime() - startedAt.getTime()));
  // A count beyond the declared uplink is cut off, which must not make the host look as if it counted less.
  const carriedBytes = aliveMs * BigInt(Math.ceil(sentBytesPerMs));
  const expectedBytes = proxiedBytes < carriedBytes ? proxiedBytes : carriedBytes;
  const missingBytes = expectedBytes - heardSentBytes;
  if (missingBytes <= LOST_BYTES || missingBytes * LOST_SHARE <= expectedBytes) return undefined;
  return {
    machineId,
    kind: "traffic_below_proxied",
    detail: `Instance ${instanceId} sent ${proxiedBytes} bytes through the server's proxy, and machine ${machineId} counts ${heardSentBytes} bytes sent in all.`,
    facts: {
      instance_id: instanceId,
      proxied_bytes: Number(proxiedBytes),
      sent_bytes: Number(heardSentBytes),
    },
  };
}
