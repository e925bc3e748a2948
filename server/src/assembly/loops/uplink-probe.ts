import type { WebSocket } from "ws";
import type { Clock } from "../../base/clock.ts";
import type { MachineId } from "../../base/ids.ts";
import type { Database } from "../../db/connect.ts";
import { withTransaction } from "../../db/transaction.ts";
import { listUplinksToMeasure, storeUplinkProbe, type AgentGateway } from "../../domains/supply/hosts/for-assembly.ts";
import { storeCheckedBenchmarks } from "../../domains/supply/benchmarks/for-assembly.ts";
import type { Loop } from "../../base/loop-driver.ts";
import { measureCpu } from "../cpu-probe.ts";
import { BOUNDS, measureUplink, STREAMS, type MeasuredSpeed, type ProbeBounds } from "../uplink-probe.ts";

/** Machines of one run, probed one after the other: at the same time they would share the server's uplink. */
const MACHINES_PER_RUN = 5;

type Gateway = Pick<AgentGateway, "openTunnel" | "measurable">;

/** Measures the uplinks of machines that are connected to this server, once a day each. */
export function uplinkProbeLoop({
  database,
  clock,
  gateway,
  measuredFrom,
  bounds = BOUNDS,
}: {
  readonly database: Database;
  readonly clock: Clock;
  readonly gateway: Gateway;
  /** The name of this computer: its own uplink takes part in the measurement. */
  readonly measuredFrom: string;
  readonly bounds?: ProbeBounds;
}): Loop {
  return {
    name: "measure-lines",
    description:
      "Measures what carries between this server and each machine that the rule verifies, and its processor, once a day.",
    everyMs: 60_000,
    run: async () => {
      const options = { now: clock.now(), limit: MACHINES_PER_RUN };
      const machineIds = await listUplinksToMeasure(database.kysely, gateway.measurable(), options);
      const counts = { measured: 0, silent: 0, slow: 0 };
      for (const machineId of machineIds) {
        const speed = await measureMachine(gateway, machineId, { clock, bounds });
        let cpuRate: number | undefined;
        try {
          // An agent that did not answer would not answer here either.
          if (speed !== undefined) cpuRate = await measureCpuOf(gateway, machineId, clock);
        } finally {
          // The uplink's measurement took its time and traffic: it counts also if that of the processor fails.
          const { isSlow } = await withTransaction(database, clock, async (tx) => {
            await storeCheckedBenchmarks(tx, { machineId, speed, cpuRate });
            return storeUplinkProbe(tx, { machineId, measuredFrom, speed });
          });
          if (speed === undefined) counts.silent += 1;
          else counts.measured += 1;
          if (isSlow) counts.slow += 1;
        }
      }
      return counts;
    },
  };
}

async function measureMachine(
  gateway: Gateway,
  machineId: MachineId,
  { clock, bounds }: { readonly clock: Clock; readonly bounds: ProbeBounds },
): Promise<MeasuredSpeed | undefined> {
  const asked = Array.from({ length: STREAMS }, () =>
    gateway.openTunnel(machineId, { instance_id: 0, service: "line" }),
  );
  const came = (await Promise.all(asked)).filter((tunnel): tunnel is WebSocket => tunnel !== undefined);
  if (came.length === STREAMS) return measureUplink(came, clock, bounds);
  for (const tunnel of came) tunnel.terminate();
  return undefined;
}

async function measureCpuOf(gateway: Gateway, machineId: MachineId, clock: Clock): Promise<number | undefined> {
  const tunnel = await gateway.openTunnel(machineId, { instance_id: 0, service: "line" });
  return tunnel === undefined ? undefined : measureCpu(tunnel, clock);
}
