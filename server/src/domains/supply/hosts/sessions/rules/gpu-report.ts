import type { Report } from "../../../../../../../protocol/index.ts";

/** Mean load and highest temperature of the GPUs of one instance. */
export type GpuUse = { readonly percent: number | undefined; readonly temperatureC: number | undefined };

/**
 * The part of a report that decides which GPUs can be rented. Load and temperature change all the time and are left
 * out.
 */
export function healthIn({ gpus }: Report): string {
  return JSON.stringify(gpus.map(({ uuid, is_healthy, reason }) => [uuid, is_healthy, reason]));
}

/** GPU use by instance, for those whose GPUs report any; `gpusOf` holds the GPUs that each was given. */
export function gpuUseIn(
  { gpus, instances }: Report,
  gpusOf: ReadonlyMap<number, readonly string[]>,
): ReadonlyMap<number, GpuUse> {
  const uses = new Map<number, GpuUse>();
  if (gpus.length === 0) return uses;
  const byUuid = new Map(gpus.map((gpu) => [gpu.uuid, gpu]));
  for (const { instance_id: id } of instances) {
    const own = (gpusOf.get(id) ?? []).flatMap((uuid) => byUuid.get(uuid) ?? []);
    const loads = own.flatMap((gpu) => gpu.utilization_percent ?? []);
    const temperatures = own.flatMap((gpu) => gpu.temperature_c ?? []);
    if (loads.length + temperatures.length === 0) continue;
    uses.set(id, {
      percent: loads.length === 0 ? undefined : loads.reduce((sum, load) => sum + load, 0) / loads.length,
      temperatureC: temperatures.length === 0 ? undefined : Math.max(...temperatures),
    });
  }
  return uses;
}
