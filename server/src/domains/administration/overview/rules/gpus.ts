/** GPUs of one machine by their facts. */
export type MachineGpus = {
  readonly gpuName: string;
  /** GPUs that are in the machine. */
  readonly presentCount: number;
  /** GPUs that are in the machine and healthy. */
  readonly usableCount: number;
  readonly rentedCount: number;
  readonly isConnected: boolean;
  /** True while renters can rent the machine: listed, connected, not resting. */
  readonly isOpen: boolean;
};

/** GPUs of one model, each counted once. */
export type ModelCounts = {
  readonly gpuName: string;
  readonly total: number;
  readonly rented: number;
  /** Healthy GPUs that can be rented now. */
  readonly free: number;
  /** Sick GPUs that nobody rents. */
  readonly broken: number;
  /** GPUs of machines whose agent is away that nobody rents. */
  readonly offline: number;
  /** The others: not listed, or their machine rests. */
  readonly unlisted: number;
};

/** Counts GPUs by model and state, the most common model first. */
export function countByModel(machines: readonly MachineGpus[]): readonly ModelCounts[] {
  const counts = new Map<string, ModelCounts>();
  for (const machine of machines) {
    const { gpuName, presentCount, usableCount, isConnected, isOpen } = machine;
    const rented = Math.min(machine.rentedCount, presentCount);
    const idle = presentCount - rented;
    const offline = isConnected ? 0 : idle;
    const broken = isConnected ? Math.min(idle, presentCount - usableCount) : 0;
    const rest = idle - offline - broken;
    const known = counts.get(gpuName) ?? nothingOf(gpuName);
    counts.set(gpuName, {
      gpuName,
      total: known.total + presentCount,
      rented: known.rented + rented,
      free: known.free + (isOpen ? rest : 0),
      broken: known.broken + broken,
      offline: known.offline + offline,
      unlisted: known.unlisted + (isOpen ? 0 : rest),
    });
  }
  return [...counts.values()].toSorted((a, b) => b.total - a.total || (a.gpuName < b.gpuName ? -1 : 1));
}

function nothingOf(gpuName: string): ModelCounts {
  return { gpuName, total: 0, rented: 0, free: 0, broken: 0, offline: 0, unlisted: 0 };
}

/** The part of the GPUs on connected machines that is rented, from 0 to 1; undefined without one. */
export function occupancyOf(counts: readonly ModelCounts[]): number | undefined {
  const [rented, reachable] = counts.reduce(
    ([taken, all], { rented: more, total, offline }) => [taken + more, all + total - offline],
    [0, 0],
  );
  return reachable === 0 ? undefined : rented / reachable;
}
