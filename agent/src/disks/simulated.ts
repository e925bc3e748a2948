import { succeed } from "../engine/engine.ts";
import type { Disks } from "./disks.ts";

/** Disks of a host that is invented: they are remembered, and nothing lies on them. */
export const simulatedDisks = (): Disks => {
  const disks = new Set<number>();
  const volumes = new Set<number>();
  return {
    async open(instance_id) {
      disks.add(instance_id);
      const place = `/simulated/disk-${instance_id}`;
      return succeed({
        volumeDirectory: async (index) => `${place}/volumes/${index}`,
        writeFile: async (name) => `${place}/platform/${name}`,
      });
    },
    readPlatformFile: async () => undefined,
    rewritePlatformFile: async () => undefined,
    attachLayer: async () => succeed(undefined),
    detachLayer: async () => succeed(undefined),
    async remove(instance_id) {
      disks.delete(instance_id);
      return succeed(undefined);
    },
    usedBytes: async (instance_id) => (disks.has(instance_id) ? 0 : undefined),
    list: async () => [...disks].toSorted((a, b) => a - b),
    async reconcileVolumes(desired) {
      const kept = desired.filter((volume) => volume.state === "present").map((volume) => volume.volume_id);
      volumes.clear();
      for (const id of kept) volumes.add(id);
      return desired.map(({ volume_id, state }) => ({ volume_id, state, used_bytes: 0, message: "" }));
    },
    volumeDirectory: (volume_id) => (volumes.has(volume_id) ? `/simulated/volume-${volume_id}/data` : undefined),
    close: async () => undefined,
  };
};
