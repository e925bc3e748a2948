import type { InstanceId, MachineId } from "../../../../base/ids.ts";
import type { Contradiction } from "../contradictions.ts";

/**
 * How much later than the proxied bytes a host's count has to be before the two are compared. An agent samples traffic up
 * to one heartbeat before its report, and a heartbeat is at most 150 s long.
 */
export const COUNTED_LATER_MS = 300_000;
/**
 * A connection that opened sooner after the beginning of a run may belong to the run before it: the clocks of two servers
 * differ.
 */
export const OPENED_LATER_MS = 10_000;
/** What is lost between two samples when a container starts again within its run, as after a lost lease. */
const LOST_BYTES = 1_000_000_000n;
const LOST_SHARE = 10n;

/** A run with the bytes that it sent through the proxy, and what its host counted well after that. */
export type ProxiedRun = {
  readonly instanceId: InstanceId;
  readonly machineId: MachineId;
  readonly startedAt: Date;
  readonly countedAt: Date;
  readonly proxiedBytes: bigint;
  /** As the host says, but no more than the machine's declared line carries. */
  readonly heardSentBytes: bigint;
};

/**
 * A contradiction when the host counts fewer bytes sent than the server itself got from the container. Containers send
 * them through their network interface, which counts headers in addition, so an honest count is never lower.
 */
export function belowProxied(run: ProxiedRun, sentBytesPerMs: number): Contradiction | undefined {
  const { instanceId, machineId, startedAt, countedAt, proxiedBytes, heardSentBytes } = run;
  const aliveMs = BigInt(Math.max(0, countedAt.getTime() - startedAt.getTime()));
  // Of a count beyond the declared line no more is believed, and the host did not say less for that.
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
