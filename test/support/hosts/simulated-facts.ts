import { inventMachine } from "../../../agent/src/simulated/machine.ts";
import { snakeFields } from "../../../agent/src/wire/fields.ts";
import { GpuFacts, MachineFacts } from "../../../protocol/index.ts";

/** Facts of a machine that a simulated agent invents, as its hello says them. */
export function simulatedFacts(
  hostKey: string,
  number: number,
  gpuCount?: number,
): { readonly machine: MachineFacts; readonly gpus: GpuFacts[] } {
  const portRange = { first: 40_000, last: 40_999 };
  const { machine, gpus } = inventMachine({ hostKey, number, publicIpaddr: "127.0.0.1", portRange, gpuCount });
  return {
    machine: snakeFields(MachineFacts, machine),
    gpus: gpus.map((gpu) => snakeFields(GpuFacts, gpu)),
  };
}
