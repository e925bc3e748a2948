import { succeed } from "../engine/engine.ts";
import type { Disks } from "./disks.ts";

/** Disks of a simulated host: kept in memory, without files. */
export const simulatedDisks = (): Disks => {
  const disks = new Set<number>();
  const volumes = new Set<number>();
  return {
    async open(instanceId) {
      disks.add(instanceId);
      const place = `/simulated/disk-${instanceId}`;
      return succeed({
        volumeDirectory: async (index) => `${place}/volumes/${index}`,
        writeFile: async (name) => `${place}/platform/${name}`,
      });
    },
    readPlatformFile: async () => undefined,
    rewritePlatformFile: async () => undefined,
    attachLayer: async () => succeed(undefined),
    detachLayer: async () => succeed(undefined),
    async remove(instanceId) {
      disks.delete(instanceId);
      return succeed(undefined);
    },
    usedBytes: async (instanceId) => (disks.has(instanceId) ? 0 : undefined),
    list: async () => [...disks].toSorted((a, b) => a - b),
    async reconcileVolumes(desired) {
      const kept = desired.filter((volume) => volume.state === "present").map((volume) => volume.volumeId);
      volumes.clear();
      for (const id of kept) volumes.add(id);
      return desired.map(({ volumeId, state }) => ({ volumeId, state, usedBytes: 0, message: "" }));
    },
    volumeDirectory: (volumeId) => (volumes.has(volumeId) ? `/simulated/volume-${volumeId}/data` : undefined),
    close: async () => undefined,
  };
};
