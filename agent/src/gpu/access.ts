import { join } from "node:path";
import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { fileFaults, forgetfulFaults } from "./faults.ts";
import { followKernelLog } from "./kernel-log.ts";
import { nvidiaSmi } from "./tool.ts";
import type { GpuAccess } from "./watch.ts";

/** GPU access of simulated hosts, which have no real GPUs. */
export const noGpuAccess: GpuAccess = { tool: null, kernelLog: () => () => undefined, faults: forgetfulFaults };

/** Access to the GPUs of this machine, whether it has any or not. */
export function realGpuAccess(input: {
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Log;
}): GpuAccess {
  const { clock, log } = input;
  return {
    tool: nvidiaSmi(clock),
    kernelLog: followKernelLog(clock),
    faults: fileFaults(join(input.stateDir, "gpu-faults.json"), (cause) =>
      log.warn({ problem: String(cause) }, "faults of GPUs cannot be kept over a restart"),
    ),
  };
}
