import type { Report } from "../../../../../../../protocol/index.ts";

/** Mean load, highest temperature and used memory of the GPUs of one instance. */
export type GpuUse = {
  readonly percent: number | undefined;
  readonly temperatureC: number | undefined;
  readonly memoryMb: number | undefined;
};

/**
 * The part of a report that decides which GPUs can be rented. Load, temperature and used memory change all the time
 * and are left out.
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
    const memories = own.flatMap((gpu) => gpu.used_memory_mb ?? []);
    if (loads.length + temperatures.length + memories.length === 0) continue;
    uses.set(id, {
      percent: loads.length === 0 ? undefined : loads.reduce((sum, load) => sum + load, 0) / loads.length,
      temperatureC: temperatures.length === 0 ? undefined : Math.max(...temperatures),
      memoryMb: memories.length === 0 ? undefined : memories.reduce((sum, used) => sum + used, 0),
    });
  }
  return uses;
}
