import type { MachineId } from "../../../../base/ids.ts";
import type { Allowance, Said } from "../rules/counting.ts";
import type { SpokenRun } from "../counting/run-store.ts";
import { UNREACHED_MS, WORD_MS } from "./start-evidence.ts";

/** A report of a host on a run that cannot be true. */
export type Contradiction = {
  readonly machineId: MachineId;
  readonly kind: "traffic_beyond_line" | "traffic_below_proxied" | "impossible_start" | "unproven_start";
  readonly detail: string;
  readonly facts: Readonly<Record<string, number>>;
};

type Run = Pick<
  SpokenRun,
  | "instanceId"
  | "generation"
  | "machineId"
  | "startedAt"
  | "meteredFromAt"
  | "notRunningAt"
  | "startedByClock"
  | "notRunningByClock"
  | "isSimulated"
  | "needsEvidence"
  | "evidenceAt"
>;

/** Reports travel for less than this, and the clock of one server is corrected by less. */
const SLACK_MS = 10_000;
/** The clocks of two servers differ by less than this. */
const CLOCKS_APART_MS = 60_000;
/** No container engine creates a disk, a network and a process in less. */
const FASTEST_START_MS = 100;
/** Allows for traffic of the machine beside its uplink, and for samples from before the uplink was measured. */
const BEYOND_UPLINK = 2n;
export const UPLINK_SLACK_BYTES = 10_000_000_000n;

/** A report on a run, and the server whose clock noted its time. */
export type Heard = Said & { readonly byClock: number | undefined };

/**
 * Contradictions between this report and the facts that the server knows: the uplink, the order, and earlier reports.
 */
export function contradictionsOf(
  run: Run,
  heard: Heard,
  uplink: Pick<Allowance, "receivedBytesPerMs" | "sentBytesPerMs">,
): readonly Contradiction[] {
  return [...beyondUplink(run, heard, uplink), ...beforeOrder(run, heard), ...unreached(run, heard)];
}

function beyondUplink(
  { instanceId, machineId, startedAt }: Run,
  { receivedBytes, sentBytes, at }: Said,
  { receivedBytesPerMs, sentBytesPerMs }: Pick<Allowance, "receivedBytesPerMs" | "sentBytesPerMs">,
): readonly Contradiction[] {
  const aliveMs = Math.max(0, at.getTime() - startedAt.getTime());
  const carried = (bytesPerMs: number) =>
    BigInt(Math.ceil(bytesPerMs)) * BigInt(aliveMs) * BEYOND_UPLINK + UPLINK_SLACK_BYTES;
  const isBeyond = receivedBytes > carried(receivedBytesPerMs) || sentBytes > carried(sentBytesPerMs);
  if (!isBeyond) return [];
  const facts = { instance_id: instanceId, received_bytes: Number(receivedBytes), sent_bytes: Number(sentBytes) };
  const carriedBytes = Number(carried(Math.max(receivedBytesPerMs, sentBytesPerMs)));
  const detail = `Instance ${instanceId} is said to have moved more bytes than the uplink of machine ${machineId} carries in its life.`;
  return [
    {
      machineId,
      kind: "traffic_beyond_line",
      detail,
      facts: { ...facts, carried_bytes: carriedBytes, alive_ms: aliveMs },
    },
  ];
}

/**
 * Only the first report on a run is about its start. The order may have been noted by the clock of another server,
 * which differs by seconds: then a start can be called far too early, but not too quick.
 */
function beforeOrder(run: Run, { runningMs, isRunning, at, byClock }: Heard): readonly Contradiction[] {
  const { instanceId, machineId, startedAt, meteredFromAt, notRunningAt, isSimulated } = run;
  if (meteredFromAt !== undefined || !isRunning) return [];
  const isOneClock = (clock: number | undefined) => clock !== undefined && clock === byClock;
  const slackOf = (clock: number | undefined) => (isOneClock(clock) ? SLACK_MS : CLOCKS_APART_MS);
  const beganMs = at.getTime() - Number(runningMs);
  const afterOrderMs = beganMs - startedAt.getTime();
  const flag = (detail: string, facts: Contradiction["facts"]): readonly Contradiction[] => [
    {
      machineId,
      kind: "impossible_start",
      detail,
      facts: { instance_id: instanceId, running_ms: Number(runningMs), ...facts },
    },
  ];
  if (afterOrderMs < -slackOf(run.startedByClock)) {
    return flag(`Instance ${instanceId} is said to have run before machine ${machineId} was told to start it.`, {
      began_after_order_ms: afterOrderMs,
    });
  }
  if (notRunningAt !== undefined && notRunningAt.getTime() - beganMs > slackOf(run.notRunningByClock)) {
    const detail = `Instance ${instanceId} is said to have run while machine ${machineId} still said that it did not.`;
    return flag(detail, { began_before_own_word_ms: notRunningAt.getTime() - beganMs });
  }
  if (isSimulated || runningMs === 0n || !isOneClock(run.startedByClock)) return [];
  if (afterOrderMs < 0 || afterOrderMs >= FASTEST_START_MS) return [];
  return flag(
    `Instance ${instanceId} is said to have run ${afterOrderMs} ms after machine ${machineId} was told to start it.`,
    { began_after_order_ms: afterOrderMs },
  );
}

/** A container that runs for minutes can be reached at its door, if it has one. */
function unreached(
  { instanceId, machineId, needsEvidence, evidenceAt }: Run,
  { runningMs, isRunning }: Said,
): readonly Contradiction[] {
  if (!needsEvidence || evidenceAt !== undefined || !isRunning || runningMs < UNREACHED_MS) return [];
  const detail = `Instance ${instanceId} is said to have run for ${runningMs / 1000n} s on machine ${machineId}, and no SSH server answers at its door.`;
  const facts = { instance_id: instanceId, running_ms: Number(runningMs), counted_ms_max: Number(WORD_MS) };
  return [{ machineId, kind: "unproven_start", detail, facts }];
}
